// npm's oidc-provider with its own pages to sign in: node openid_provider.mjs FOLDER PORT REDIRECT SECRET ALGORITHM
import { generateKeyPairSync } from "node:crypto";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, port, redirect, secret, algorithm] = process.argv.slice(2);
const path = createRequire(`${folder}/`).resolve("oidc-provider");
const { Provider } = await import(pathToFileURL(path).href);
const pair = algorithm === "RS256"
  ? generateKeyPairSync("rsa", { modulusLength: 2048 })
  : generateKeyPairSync("ec", { namedCurve: "P-256" });
const provider = new Provider(`http://localhost:${port}`, {
  clients: [{
    client_id: "discreet",
    ...(secret ? { client_secret: secret } : { token_endpoint_auth_method: "none" }),
    redirect_uris: [redirect],
    grant_types: ["authorization_code"],
    response_types: ["code"],
    id_token_signed_response_alg: algorithm,
  }],
  jwks: { keys: [{ ...pair.privateKey.export({ format: "jwk" }), use: "sig", alg: algorithm, kid: "one" }] },
  pkce: { required: () => true },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
