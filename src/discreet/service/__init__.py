"""The curator as a service: HTTP API, web pages and PostgreSQL's protocol over the library's verbs.

| package or module | subject |
|---|---|
| `app`, `state`, `config` | application, components of a worker process, `curator.toml` |
| `api` | table of all HTTP endpoints |
| `pages` | web pages for analysts and stewards |
| `postgres` | listener for PostgreSQL's clients |
| `http` | authentication, limits, middleware, audit log |
| `jobs` | charged requests as jobs, timing grid, worker processes for free requests |
| `stores` | users, jobs, receipts; opened data sets |

No noise is drawn here and no budget is counted: the curator and its ledger do both.
"""
