"""Nodes over one PostgreSQL server, and the proxies between them and their clients."""

import base64
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

PREFIX = "cms"
FREE_PORT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "free-port")


class Cut(Exception):
    """A request without a response: what became of it is not known."""


class Answer:
    def __init__(self, status, headers, text, began):
        self.status, self.headers, self.text, self.began = status, headers, text, began
        try:
            self.body = json.loads(text)
        except ValueError:
            self.body = None

    def total(self):
        return int(self.headers.get("x-cms-total", -1))


class Audit:
    """Every response; those that no fault excuses."""

    def __init__(self):
        self.lock, self.statuses, self.violations = threading.Lock(), {}, []

    def violation(self, text):
        with self.lock:
            self.violations.append(text)
            number = len(self.violations)
        if number <= 30:
            print("violation:", text, flush=True)

    def take(self, port, method, path, answer):
        code = answer.body.get("code", "") if answer.status >= 400 and isinstance(answer.body, dict) else ""
        with self.lock:
            key = f"{answer.status} {code}".strip()
            self.statuses[key] = self.statuses.get(key, 0) + 1
        allowed = 200 <= answer.status < 300 or 400 <= answer.status < 500 or answer.status == 503
        if not allowed:
            self.violation(f"{method} {path} on {port}: {answer.status} {answer.text[:300]}")
        if answer.status == 503 and "retry-after" not in answer.headers:
            self.violation(f"{method} {path} on {port}: 503 without Retry-After: {answer.text[:300]}")


class Client:
    """Sends each request over a connection of its own, so that a proxy may choose a node for each."""

    def __init__(self, audit, secret, patience):
        self.audit, self.patience = audit, patience
        self.authorization = "Basic " + base64.b64encode(f"admin:{secret}".encode()).decode()

    def send(self, port, method, path, body=None, anonymous=False):
        headers = {} if anonymous else {"Authorization": self.authorization}
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=self.patience)
        try:
            connection.request(method, f"/{PREFIX}-json/cms/v2{path}", body, headers)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
        except TimeoutError as error:
            self.audit.violation(f"{method} {path} on {port}: no response in {self.patience} s")
            raise Cut(str(error)) from error
        except (OSError, http.client.HTTPException) as error:
            raise Cut(str(error)) from error
        finally:
            connection.close()
        answer = Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, text, began)
        self.audit.take(port, method, path, answer)
        return answer


def close(*sockets):
    for one in sockets:
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        one.close()


class Relay:
    """A TCP proxy to the next of its targets that answers. `cut` ends its connections and refuses others; `hush` lets
    nothing through, and nobody hears of it."""

    def __init__(self, targets):
        self.targets, self.turn, self.lock = targets, 0, threading.Lock()
        self.flowing, self.refusing, self.pairs = threading.Event(), False, set()
        self.flowing.set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        self.flowing.wait()
        with self.lock:
            self.turn += 1
            turn, refusing = self.turn, self.refusing
        for offset in range(0 if refusing else len(self.targets)):
            try:
                far = socket.create_connection(("127.0.0.1", self.targets[(turn + offset) % len(self.targets)]), timeout=5)
            except OSError:
                continue
            far.settimeout(None)
            with self.lock:
                self.pairs.add((near, far))
            threading.Thread(target=self.pump, args=(near, far), daemon=True).start()
            self.pump(far, near)
            with self.lock:
                self.pairs.discard((near, far))
            return
        close(near)

    def pump(self, source, sink):
        try:
            while data := source.recv(65536):
                self.flowing.wait()
                sink.sendall(data)
        except OSError:
            pass
        close(source, sink)

    def cut(self):
        with self.lock:
            self.refusing = True
            for pair in self.pairs:
                close(*pair)

    def hush(self):
        self.flowing.clear()

    def restore(self):
        with self.lock:
            self.refusing = False
        self.flowing.set()


def free_port():
    return int(subprocess.check_output([FREE_PORT]))


class Node:
    """A server with declarations of its own, its way to the database through a proxy."""

    def __init__(self, name, program, folder, database_port, port, sets):
        self.name, self.program, self.folder, self.port = name, program, folder, port
        self.link, self.process, self.offset = Relay([database_port]), None, 0
        self.declarations = os.path.join(folder, name)
        subprocess.run([program, "init", self.declarations], check=True, stdout=subprocess.DEVNULL)
        url = f"postgres://postgres@127.0.0.1:{self.link.port}/site?sslmode=disable"
        self.sets = [f"storage.url={url}", f"server.listen=127.0.0.1:{port}", "site.demo=false", "site.bcrypt_cost=4",
            "server.access_log=false", f"media.url=file:{folder}/files", *sets]

    def command(self, *words):
        args = [self.program, "--config", os.path.join(self.declarations, "routes.toml")]
        for one in self.sets:
            args += ["--set", one]
        return args + list(words)

    def output(self, *words, given=""):
        done = subprocess.run(self.command(*words), input=given, text=True, capture_output=True, cwd=self.folder)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def fails(self, setting):
        """What the node says that does not start with another setting."""
        args = self.command()
        args += ["--set", setting, "--set", f"server.listen=127.0.0.1:{free_port()}"]
        done = subprocess.run(args, text=True, capture_output=True, cwd=self.folder, timeout=20)
        return done.stdout + done.stderr

    def start(self):
        self.offset = len(self.log())
        with open(os.path.join(self.folder, f"{self.name}.log"), "ab") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self.folder)

    def await_ready(self, patience=60):
        until = time.monotonic() + patience
        while True:
            if self.process.poll() is not None:
                raise SystemExit(f"{self.name} ended with {self.process.returncode}: {self.log()[-2000:]}")
            # The socket is there earlier.
            if "ready in" in self.log()[self.offset:]:
                return
            if time.monotonic() > until:
                raise SystemExit(f"{self.name} does not start: {self.log()[-2000:]}")
            threading.Event().wait(0.05)

    def log(self):
        path = os.path.join(self.folder, f"{self.name}.log")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def end(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Database:
    """The server that `tests/postgres/with` has started."""

    def __init__(self):
        self.control = os.environ["CMS_TEST_POSTGRES_CONTROL"]
        self.url = os.environ["CMS_TEST_POSTGRES"].replace("/tests?", "/site?")
        self.port = int(self.url.split("127.0.0.1:")[1].split("/")[0])
        self.sql("CREATE DATABASE site", url=os.environ["CMS_TEST_POSTGRES"])

    def sql(self, text, url=None):
        args = [shutil.which("psql"), url or self.url, "-v", "ON_ERROR_STOP=1", "-qAtc", text]
        done = subprocess.run(args, text=True, capture_output=True)
        if done.returncode:
            raise SystemExit(f"{text}: {done.stderr}")
        return [line.split("|") for line in done.stdout.splitlines()]

    def stop(self):
        subprocess.run([self.control, "-m", "immediate", "stop"], check=True, stdout=subprocess.DEVNULL)

    def start(self):
        subprocess.run([self.control, "-l", "/dev/null", "-w", "start"], check=True, stdout=subprocess.DEVNULL)


class Standby:
    """A replica of a database server. It may take its place, and is a `Database` then."""

    def __init__(self, primary, folder):
        # A server refuses to run as root.
        self.prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self.folder, self.primary = folder, primary
        os.mkdir(folder)
        if self.prefix:
            shutil.chown(folder, "postgres")
        self.data, self.port, self.link = os.path.join(folder, "data"), free_port(), Relay([primary.port])
        self.url = primary.url.replace(f":{primary.port}/", f":{self.port}/")
        copy = ["pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-d",
            f"postgres://postgres@127.0.0.1:{self.link.port}/?sslmode=disable"]
        subprocess.run(self.prefix + copy, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as settings:
            settings.write(f"port = {self.port}\nunix_socket_directories = '{folder}'\n")
        self.start()

    def control(self, *words):
        subprocess.run([*self.prefix, shutil.which("pg_ctl"), "-D", self.data, "-s", *words], check=True, cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        self.control("-l", os.path.join(self.folder, "log"), "-w", "start")

    def stop(self):
        self.control("-m", "immediate", "stop")

    def promote(self):
        self.control("-w", "promote")

    def await_primary(self, patience=30):
        """Waits until everything that the primary has written is here."""
        until, place = time.monotonic() + patience, self.primary.sql("SELECT pg_current_wal_lsn()")[0][0]
        while self.sql(f"SELECT pg_last_wal_replay_lsn() >= '{place}'")[0][0] != "t":
            if time.monotonic() > until:
                raise SystemExit("the replica does not follow")
            threading.Event().wait(0.05)

    sql = Database.sql
