"""Makes the pictures in docs/pictures: a run on the lab as a terminal shows it, and the HTML report that it wrote. Needs root."""

import fcntl
import html
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from browser.chromium import LAUNCH  # noqa: E402 - a script: nothing puts tests/ on its path but the line above
from lab import Lab  # noqa: E402 - as above

FOLDER = ROOT / "docs" / "pictures"
COLUMNS = 100
HOSTS = [
    {"name": "db%d", "count": 3, "groups": ["database"]},
    {"name": "cp%d", "count": 2, "groups": ["control_plane"]},
    {"name": "witness1", "groups": ["etcd_witness"]},
    {"name": "node%02d", "count": 8, "groups": ["node"]},
]
# What is wrong with some of them, in an earlier run and now.
EARLIER = {
    "db1": {"disk_gb": 20, "disk_free_gb": 12.5}, "cp2": {"sudo": "denied"}, "node03": {"down": True}, "node05": {"mem_mb": 1500},
    "node08": {"ntp": False}}
NOW = {
    "db1": {"disk_gb": 20, "disk_free_gb": 12.5},
    "db3": {"block": [{"dir": "in", "from": "cp2", "port": 5432}]},
    "cp2": {"sudo": "password"},
    "node02": {"clock_offset_s": 3}, "node03": {"auth": "none"}, "node04": {"clock_offset_s": -31, "ntp": False},
    "node06": {"block": [{"to": "db2", "port": 22}, {"to": "cp1", "port": 22, "how": "reject"}], "cpus": 1},
    "node07": {"internet": False}, "node08": {"ntp": False}}
VARIABLES = {
    "preflight_report_formats": ["json", "html"],
    "preflight_limits": {"reach_s": 4},
    "preflight_waivers": [
        {"check": "time_sync", "machine": "node08", "reason": "its hypervisor keeps the clock right", "until": "2099-12-31"}]}
# Of the terminal: the codes that Ansible uses.
STYLES = {"0;31": "fail", "0;35": "warn", "1;35": "warn", "0;32": "ok"}
SCREEN = """<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0; background: #16181c; color: #d8dbdf; }
pre { margin: 0; padding: 20px 24px; width: max-content; font: 14px/1.45 "DejaVu Sans Mono", monospace; }
.fail { color: #ff8a80; } .warn { color: #f3c969; } .ok { color: #8fd6a5; } .prompt { color: #8a929b; }
</style><pre>"""


def spec(faults):
    made = []
    for host in HOSTS:
        for number in range(1, host.get("count", 1) + 1):
            name = host["name"] % number if "count" in host else host["name"]
            made.append({"name": name, "groups": host["groups"], **faults.get(name, {})})
    return {"defaults": {"cpus": 2, "arch": "x86_64"}, "hosts": made}


def run(lab, folder):
    """Run the preflight in a terminal of its own; what it printed."""
    (folder / "hosts.json").write_text(json.dumps(lab.inventory()))
    (folder / "vars.json").write_text(json.dumps({**VARIABLES, "preflight_report_dir": str(folder)}))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(ROOT / "playbooks" / "preflight.yml"),
               "-i", str(folder / "hosts.json"), "-e", f"@{folder / 'vars.json'}", "-f", "20"]
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"), "ANSIBLE_HOME": str(folder / "home"),
                   "ANSIBLE_FORCE_COLOR": "1", "ANSIBLE_DEPRECATION_WARNINGS": "0", "TERM": "xterm"}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with lab.network(), subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=environment) as process:
        os.close(theirs)
        told = b"".join(iter(lambda: read(ours), b""))
    os.close(ours)
    if process.returncode != 2:  # the play fails, since machines do
        sys.exit(f"{' '.join(command)} ended with {process.returncode}:\n{told.decode()}")
    return told.decode().replace("\r\n", "\n")


def read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # a terminal whose other end is closed
        return b""


def screen(output):
    """The report out of a play's output, as a page."""
    report = re.search(r"TASK \[.*Show the report\][ *]*\n(.*?)\n*(?:Report written|\x1b\[[0-9;]*m(?:fatal|\[ERROR\]))", output, re.DOTALL)
    text, made = report[1].strip("\n"), ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        if part.startswith("\x1b["):
            style = STYLES.get(part[2:-1])
            made += f'<span class="{style}">' if style else "</span>" if part == "\x1b[0m" else "<span>"
        else:
            made += html.escape(part)
    return f'{SCREEN}<span class="prompt">$ ansible-playbook llmgw.preflight.preflight -i hosts.yml</span>\n\n{made}</pre>'


def take(folder, output):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**LAUNCH)

        def page(width, height, scheme="dark", scale=1):
            return browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=scale,
                                    reduced_motion="reduce")

        terminal = page(400, 300)
        terminal.set_content(screen(output))
        terminal.locator("pre").screenshot(path=FOLDER / "terminal.png")
        address = (folder / "preflight.html").as_uri()
        light = page(1280, 1500, "light")
        light.goto(address)
        light.screenshot(path=FOLDER / "html-light.png")
        dark = page(1280, 1700)
        dark.goto(f"{address}#grid")
        dark.locator("td.f").nth(1).click()
        dark.evaluate("document.querySelector('#grid').scrollIntoView()")
        dark.screenshot(path=FOLDER / "html-dark.png")
        phone = page(360, 780, scale=2)
        phone.goto(address)
        phone.screenshot(path=FOLDER / "html-phone.png")
        browser.close()


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    lab = Lab(f"/run/llmgw-preflight-pictures-{os.getpid()}")
    with tempfile.TemporaryDirectory() as name:
        try:
            for faults in (EARLIER, NOW):
                lab.up(spec(faults))
                output = run(lab, Path(name))
        finally:
            lab.down()
        take(Path(name), output)
    print(*(f"{picture.relative_to(ROOT)}  {picture.stat().st_size:,} bytes" for picture in sorted(FOLDER.glob("*.png"))), sep="\n")


if __name__ == "__main__":
    main()
