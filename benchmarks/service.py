"""The service under load, on loopback: nothing over-spent, nothing lost, no 5xx; how long it takes; what times tell.

    python benchmarks/service.py [load | times | worst | wire] [rounds]

load   64 clients at once, 4 workers, jobs and ledger in PostgreSQL. Every client asks its own questions under its own
       idempotency keys; more are asked than the budget allows. In the middle a worker is killed and the database is
       restarted. Then the books are compared with what the clients got. Latencies as multiples of a bare uvicorn app
       that runs the same aggregate in DuckDB, with the same workers and clients.
worst  Eight people ask, quietly at first; then one more does the worst that is allowed: free questions that run into their
       time, charged ones with as many noisy numbers as are given at once, pages, wrong tokens, all at once and again
       and again. The others' p50 and p99 beside their quiet ones and beside a bare uvicorn app, in one run.
times  Two neighbouring data sets behind two servers: one person more, with very many rows. Client-side times of 200
       questions each, interleaved, compared by the Kolmogorov-Smirnov test; with the grid, and with a grid so fine that
       it hides nothing.
wire   HTTP and PostgreSQL's protocol in turn, each on one open connection: the time of stored and of new answers, and
       the processor time that all processes of the server take for one.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

sys.path[0] = str(
    Path(__file__).parents[1] / "tests"
)  # not this folder: it has a service.py of its own

import discreet as dp  # noqa: E402
from discreet.ledger import open_ledger  # noqa: E402
from discreet.service.jobs.job_store import JobStore  # noqa: E402
from discreet.service.stores.people import Members  # noqa: E402
from discreet.service.stores.store import open_store  # noqa: E402
from service.deployment import build, free_port, rows, start  # noqa: E402

SETUP = Path(__file__).parents[1] / "tests" / "setup_postgres.sh"
CLIENTS, WORKERS = 64, 4
SPEND = dp.PureDP("1/100")

BARE = """
import duckdb, json
base = duckdb.connect()
QUERY = "SELECT region, count(*), sum(income::DOUBLE), avg(income::DOUBLE) FROM read_csv('{csv}') GROUP BY region"
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    from starlette.concurrency import run_in_threadpool
    found = await run_in_threadpool(lambda: base.cursor().execute(QUERY).fetchall())
    body = json.dumps(found).encode()
    await send({{"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]}})
    await send({{"type": "http.response.body", "body": body}})
"""


def question(client, k):
    where = f"income < {1000 + (client * 31 + k) % 90_000}"
    return (
        f"SELECT region, COUNT(*) AS n, AVG(income) AS m FROM people WHERE {where} GROUP BY region"
    )


def ask(client, token_client, k, seen):
    """Ask until there is an answer or a refusal; note every status on the way and how long it took."""
    body = {
        "sql": question(client, k),
        "spend": {"epsilon": "1/100"},
        "level": f"0.9{client:02d}{k + 1:02d}",
    }
    headers = {"Idempotency-Key": f"{client}-{k}"}
    begin = time.perf_counter()
    while True:
        try:
            response = token_client.post("/datasets/people/sql", json=body, headers=headers)
        except httpx.TransportError:
            seen.append(("lost connection", 0.0))
            time.sleep(0.05)
            continue
        while response.status_code == 202:
            time.sleep(max(0.01, response.json()["again_in"]))
            try:
                found = token_client.get(response.headers["location"].removeprefix("/api/v1"))
            except httpx.TransportError:
                seen.append(("lost connection", 0.0))
                break
            if found.status_code != 200:
                seen.append((found.status_code, 0.0))
                break
            if "reply" in found.json():
                seen.append((found.json()["status"], time.perf_counter() - begin))
                return found.json()["status"], found.json()["reply"]
        if response.status_code in (200, 409):
            seen.append((response.status_code, time.perf_counter() - begin))
            return response.status_code, response.json()
        if response.status_code in (401, 403, 404, 422):
            raise SystemExit(response.text)
        if response.status_code != 202:
            seen.append((response.status_code, 0.0))
            time.sleep(0.1)


def crowd(house, turns, seen, answers):
    """Let 64 clients ask at once, each on a connection of its own."""

    def one(client):
        with house.client("ana") as line:
            for k in turns:
                answers[client, k] = ask(client, line, k, seen)

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(one, range(CLIENTS)))


def restart(home):
    tools = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    command = [
        str(tools / "pg_ctl"),
        "-D",
        f"{home}/data",
        "-w",
        "-m",
        "fast",
        "-l",
        f"{home}/server.log",
        "restart",
    ]
    become = (
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
        if os.getuid() == 0
        else []
    )
    quiet = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    subprocess.run(
        [*become, *command], check=True, cwd="/", **quiet
    )  # a pipe would stay open as long as the server


def disturb(server, home, wait):
    """Kill one worker, then restart the database, while the crowd asks."""
    time.sleep(wait)
    children = (
        Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    )
    workers = [
        int(pid) for pid in children if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()
    ]
    os.kill(workers[0], signal.SIGKILL)
    print(f"  killed worker 1 of {len(workers)}")
    time.sleep(wait)
    begin = time.perf_counter()
    restart(home)
    print(f"  restarted the database in {time.perf_counter() - begin:.1f} s")


def percentiles(times):
    ordered = sorted(times)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]


def bare(folder, each, clients=CLIENTS):
    """Time the same crowd against a bare app."""
    port = free_port()
    (folder / "bare.py").write_text(BARE.format(csv=folder / "people.csv"))
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "bare:app",
        "--port",
        str(port),
        "--workers",
        str(WORKERS),
        "--log-level",
        "critical",
    ]
    process = subprocess.Popen(command, cwd=folder)
    url, times = f"http://127.0.0.1:{port}/", []
    for _ in range(200):
        try:
            httpx.get(url, trust_env=False)
            break
        except httpx.TransportError:
            time.sleep(0.1)

    def one(_):
        with httpx.Client(trust_env=False, timeout=60) as line:
            for _ in range(each):
                begin = time.perf_counter()
                line.get(url).raise_for_status()
                times.append(time.perf_counter() - begin)

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(one, range(clients)))
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    return times


def load(each):
    home = tempfile.mkdtemp(prefix="pg")
    subprocess.run([SETUP, "install"], check=True, capture_output=True)
    dsn = subprocess.run(
        [SETUP, "start", home], check=True, capture_output=True, text=True
    ).stdout.strip()
    folder = Path(tempfile.mkdtemp(prefix="load"))
    fits = CLIENTS * each * 3 // 4
    budget = f'{{ epsilon = "{fits}/100" }}'
    house = build(
        folder,
        budget=budget,
        csv=rows(20_000),
        port=free_port(),
        store=dsn,
        ledger=dsn,
        service='lease = "4"',
    )
    server = start(house, workers=WORKERS)
    seen, answers = [], {}
    try:
        print(
            f"{CLIENTS} clients × {each} questions, {WORKERS} workers, PostgreSQL; the budget allows {fits} of {CLIENTS * each}"
        )
        calm = []
        crowd(house, range(1), [], {})  # every worker has opened its engines then
        crowd(house, range(1, 3), calm, {})
        trouble = threading.Thread(target=disturb, args=(server, home, 2.0))
        trouble.start()
        begin = time.perf_counter()
        crowd(house, range(each), seen, answers)
        trouble.join()
        report(
            house,
            dsn,
            answers,
            seen=seen,
            calm=calm,
            fits=fits,
            seconds=time.perf_counter() - begin,
        )
        print_ratio(calm, bare(folder, 2))
    finally:
        server.stop()
        subprocess.run([SETUP, "stop", home], check=False)


def report(house, dsn, answers, *, seen, calm, fits, seconds):
    statuses = {
        status: sum(1 for s, _ in [*seen, *calm] if s == status)
        for status in {s for s, _ in [*seen, *calm]}
    }
    granted = [reply for status, reply in answers.values() if status == 200]
    with open_ledger(dsn, name="people") as ledger:
        charges = [entry for entry in ledger.history() if entry.kind == "charge"]
        spent, left = ledger.spent(), ledger.left()
        ledger.verify()
    print(f"  {seconds:.1f} s; statuses seen by clients: {dict(sorted(statuses.items(), key=str))}")
    print(
        f"  answers {len(granted)}, refusals {len(answers) - len(granted)}; charges in the ledger {len(charges)}, {spent} spent, {left} left; chain verified"
    )
    bad = [s for s in statuses if isinstance(s, int) and s >= 500]
    assert not bad, bad
    assert len(charges) == len({entry.key for entry in charges}) == len(granted) == fits
    with house.client("ana") as line:
        for (client, k), (status, reply) in list(answers.items())[:: max(1, len(answers) // 40)]:
            if status == 200:
                assert ask(client, line, k, [])[1] == reply, "a stored answer changed"
    print(
        "  no over-spend, no lost answer, no 5xx; repeated requests give the same bytes and cost nothing"
    )


def print_ratio(calm, plain):
    ours, theirs = percentiles([t for s, t in calm if s == 200]), percentiles(plain)
    print(
        f"  p50 {ours[0]:.3f} s, p99 {ours[1]:.3f} s; bare uvicorn + DuckDB p50 {theirs[0]:.3f} s, p99 {theirs[1]:.3f} s"
    )
    print(
        f"  p50 × {ours[0] / theirs[0]:.1f}, p99 × {ours[1] / theirs[1]:.1f} (the grid alone is 0.25 s)"
    )


HEAVY = """format = 1
[tables.people]
unit = { kind = "people", id = "age", max_rows = 5 }
[tables.people.columns]
income = { type = "real", low = 0, high = 100000, step = 1 }
region = { type = "category", values = ["N", "S", "E", "W"] }
"""


def times(count):
    from scipy.stats import ks_2samp

    for grid in ("0.001", "1"):
        servers = []
        for extra in (0, 50_000):
            folder = Path(tempfile.mkdtemp(prefix="times"))
            csv = rows(20_000) + "".join(f"999,{k % 90_000},N\n" for k in range(extra))
            house = build(
                folder,
                csv=csv,
                budget='{ epsilon = "1000" }',
                port=free_port(),
                service=f'grid = "{grid}"',
            )
            (folder / "people.toml").write_text(HEAVY)
            (folder / "curator.toml").write_text(
                (folder / "curator.toml").read_text().replace(', wards = "wards.csv"', "")
            )
            servers.append(start(house))
        taken = [[], []]

        def once(k, servers=servers, taken=taken):
            for place, server in enumerate(servers):
                with server.house.client("ana") as line:
                    line.get("/me")
                    begin = time.perf_counter()
                    ask(k % 100, line, k // 100 + 1, [])
                    taken[place].append(time.perf_counter() - begin)

        for k in range(90, 94):
            once(k)  # engines are open and caches warm then
        taken = [[], []]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda k, taken=taken: once(k + 200, taken=taken), range(count)))
        for server in servers:
            server.stop()
        found = ks_2samp(*taken)
        middle = [f"{1000 * statistics.median(times):.1f}" for times in taken]
        print(
            f"grid {grid} s: medians {middle[0]} and {middle[1]} ms; KS D = {found.statistic:.3f}, p = {found.pvalue:.2g}, n = {count} each"
        )


OTHERS = 8


def wire(rounds):
    import psycopg

    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        house = build(Path(folder), port=free_port(), service='grid = "0.002"')
        asked = "SELECT region, COUNT(*) AS n FROM people WHERE income > {} GROUP BY region"
        taken, worked = defaultdict(list), defaultdict(list)
        terms = {"host": "127.0.0.1", "port": port, "user": "ana", "dbname": "people"}
        options = {"password": house.tokens["ana"], "options": "-c discreet.epsilon=1/100"}

        def by_http(sql):
            body = {"sql": sql, "spend": {"epsilon": "1/100"}}
            reply = client.post("/datasets/people/sql", json=body)
            place = reply.headers.get("Location", "").removeprefix("/api/v1")
            while reply.status_code == 202 or (
                place and reply.json().get("state") in ("waiting", "running")
            ):
                reply = client.get(place)
            reply.raise_for_status()

        server = start(house, postgres=port)
        ending = ExitStack()
        ending.callback(server.stop)
        with (
            ending,
            psycopg.connect(autocommit=True, **terms, **options) as line,
            house.client("ana") as client,
        ):
            ways = {"http": by_http, "wire": lambda sql: line.execute(sql).fetchall()}
            for k in range(2 * rounds + 2):
                # In turn, so that load on the machine meets both alike; the first two are not counted.
                way = ("http", "wire")[k % 2]
                for kind in ("new", "stored"):
                    before = processor_seconds(server.process.pid)
                    begin = time.perf_counter()
                    ways[way](asked.format(k))
                    seconds = time.perf_counter() - begin
                    time.sleep(0.03)  # what is done after the answer belongs to it
                    if k > 1:
                        taken[way, kind].append(seconds)
                        after = processor_seconds(server.process.pid)
                        worked[way, kind].append(after - before)
    for kind, most in (("stored", 1.5), ("new", 1.1)):
        http, pg = (1000 * statistics.median(taken[way, kind]) for way in ("http", "wire"))
        print(
            f"{kind}: HTTP {http:.1f} ms, PostgreSQL {pg:.1f} ms, ratio {pg / http:.2f} (asked {most})"
        )
        http, pg = (1000 * statistics.median(worked[way, kind]) for way in ("http", "wire"))
        print(f"    processor: HTTP {http:.1f} ms, PostgreSQL {pg:.1f} ms, ratio {pg / http:.2f}")


def processor_seconds(pid):
    """Return the processor time of a process and of all that it has started, in seconds."""
    spent = 0.0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        spent += 1e-9 * int((thread / "schedstat").read_text().split()[0])
        for child in (thread / "children").read_text().split():
            spent += processor_seconds(int(child))
    return spent


def worst(rounds):
    """Compare what eight people wait for, quietly and beside somebody who does the worst that is allowed."""
    folder = Path(tempfile.mkdtemp(prefix="worst"))
    house = build(
        folder,
        budget='{ epsilon = "100000" }',
        csv=rows(20_000),
        port=free_port(),
        service='grid = "0.25"',
    )
    text = house.config.read_text().replace(
        "requests_per_minute = 100000", "requests_per_minute = 1200"
    )
    house.config.write_text(text.replace("jobs_per_person = 1000", "jobs_per_person = 16"))
    kept = open_store(str(folder / "service.db"))
    for k in range(OTHERS):
        house.tokens[f"p{k}"] = Members(kept).add(f"p{k}", "analyst", ["people"])[1]
    kept.close()
    server = start(house, workers=2)
    try:
        others(house, range(4))  # engines and clerks are there then
        quiet, loud = [], []
        for part in range(1, 3):
            quiet += others(house, range(100 * part, 100 * part + rounds))
            with beside_villains(house):
                loud += others(house, range(100 * part + 50, 100 * part + 50 + rounds))
        plain = bare(folder, rounds, OTHERS)
    finally:
        server.stop()
    for name, found in (("quiet", quiet), ("beside the worst", loud)):
        p50, p99 = percentiles(found)
        b50, b99 = percentiles(plain)
        print(
            f"  {name}: p50 {p50:.3f} s (x {p50 / b50:.1f} of bare), p99 {p99:.3f} s (x {p99 / b99:.1f} of bare)"
        )
    print(
        f"  others' p99 is {percentiles(loud)[1] / percentiles(quiet)[1]:.2f} x their quiet p99 (asked for: at most 2)"
    )


@contextmanager
def beside_villains(house):
    """Have the worst done by 16 hands of one person, who sits at a machine of his own: a process that only takes what
    processor time others leave.
    """
    words = [
        "chrt",
        "--idle",
        "0",
        sys.executable,
        __file__,
        "villain",
        house.url,
        house.tokens["ana"],
    ]
    crowd = subprocess.Popen(words)
    time.sleep(4)
    try:
        yield
    finally:
        crowd.terminate()
        crowd.wait()
        wait_until_done(house, "ana")
        time.sleep(12)  # what is free is worked on for ten seconds at most


def wait_until_done(house, who):
    """Wait for what somebody left running: quiet is when it is over."""
    kept = open_store(str(house.folder / "service.db"))
    while JobStore(kept, "nobody", 60.0).count(who):
        time.sleep(0.2)
    kept.close()


def others(house, turns):
    """Let eight people ask side by side; how long each answer took."""
    taken = []

    def one(k):
        with house.client(f"p{k}") as line:
            for turn in turns:
                seen = []
                ask(k, line, turn, seen)
                taken.extend(t for status, t in seen if status == 200)

    with ThreadPoolExecutor(OTHERS) as pool:
        list(pool.map(one, range(OTHERS)))
    return taken


def villains(url, token):
    """Sixteen hands at once, until somebody ends it; then say what came of it."""
    met = Counter()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"  the worst: {dict(met)}"))
    for k in range(16):
        threading.Thread(target=villain, args=(url, token, k, met), daemon=True).start()
    signal.pause()


def villain(url, token, k, met):
    """Do one of the worst things that are allowed, again and again."""
    endless = (
        "SELECT " + ", ".join(f"MEDIAN(age + {j}) AS m{j}" for j in range(700)) + " FROM people"
    )
    wide = "SELECT age, region, " + ", ".join(f"SUM(income + {j}) AS s{j}" for j in range(40))
    wide += f" FROM people WHERE income < {k} GROUP BY age, region"
    spend = {"epsilon": "1"}
    mine = {"Authorization": f"Bearer {token}"}
    with httpx.Client(
        base_url=f"{url}/api/v1", headers=mine, timeout=4, trust_env=False
    ) as line:  # hangs up and asks again
        for turn in range(10**6):
            try:
                if k % 4 == 0:
                    found = line.post(
                        "/datasets/people/explain", json={"sql": endless, "spend": spend}
                    )
                elif k % 4 == 1:
                    made = {"sql": wide, "spend": spend, "rows": 100_000}
                    found = line.post("/datasets/people/rehearse", json=made)
                elif k % 4 == 2:
                    body = {"sql": wide, "spend": spend, "level": f"0.9{k:02d}{turn:04d}"}
                    found = line.post("/datasets/people/sql", json=body)
                else:
                    line.get("/me", headers={"Authorization": "Bearer dsc_wrong"})
                    found = line.get("/datasets/people/history?last=1000")
                met[("explain", "rehearse", "sql", "history")[k % 4], found.status_code] += 1
            except httpx.TransportError:
                met["hung up"] += 1
            time.sleep(0.02)


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "both"
    if what == "villain":
        villains(*sys.argv[2:])
    if what in ("load", "both"):
        load(int(sys.argv[2]) if len(sys.argv) > 2 else 4)
    if what in ("worst", "both"):
        worst(int(sys.argv[2]) if len(sys.argv) > 2 else 48)
    elif what == "wire":
        wire(int(sys.argv[2]) if len(sys.argv) > 2 else 60)
    if what in ("times", "both"):
        times(int(sys.argv[2]) if len(sys.argv) > 2 else 200)
