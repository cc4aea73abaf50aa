"""Command line of the lab: python3 tests/lab/lab.py VERB.  See README.md."""
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from lab import Lab, LabError
from lab.api import DEFAULT_DIR, FAULTS
from lab.needs import PATH


def _arguments():
    top = argparse.ArgumentParser(description="Many real SSH machines on one Linux box.")
    top.add_argument("--state", metavar="DIR", default=DEFAULT_DIR, help=f"the lab's folder ({DEFAULT_DIR})")
    verbs = top.add_subparsers(dest="verb", required=True)

    def verb(name, text):
        return verbs.add_parser(name, help=text, description=text)

    verb("up", "make the hosts of a spec; takes down what was up").add_argument("spec", metavar="SPEC.json")
    verb("down", "remove everything; harmless when nothing is up")
    verb("inventory", "print an Ansible inventory").add_argument(
        "--no-secrets", action="store_true", help="leave out passwords")
    verb("status", "a line for each host")
    sub = verb("exec", "run a shell command inside a host, not over ssh")
    sub.add_argument("-u", "--user", default="root")
    sub.add_argument("host")
    sub.add_argument("cmd", nargs=argparse.REMAINDER)
    sub = verb("fault", "break or mend a running host")
    sub.add_argument("host")
    sub.add_argument("kind", choices=FAULTS)
    sub = verb("run", "run a command (ansible, ssh) as the controller, on the lab's network")
    sub.add_argument("--measure", action="store_true", help="say on standard error what it used, as JSON")
    sub.add_argument("cmd", nargs=argparse.REMAINDER)
    return top.parse_args()


def _command(words):
    words = words[1:] if words[:1] == ["--"] else words
    if not words:
        raise LabError("which command?")
    return words


def _run(lab, args):
    if args.verb == "up":
        lab.up(args.spec)
    elif args.verb == "down":
        lab.down()
    elif args.verb == "inventory":
        print(json.dumps(lab.inventory(secrets=not args.no_secrets), indent=2))  # JSON is YAML too
    elif args.verb == "status":
        for row in lab.status():
            print(f"{row['name']:<24}{row['ip']:<16}pid {row['pid'] or '-':<9}{row['processes']:>4} processes"
                  f"  ssh {'yes' if row['ssh'] else 'no'}")
    elif args.verb == "fault":
        lab.fault(args.host, args.kind)
    elif args.verb == "exec":
        words = _command(args.cmd)
        line = lab.exec_command(args.host, words[0] if len(words) == 1 else words, args.user)
        env = {"PATH": PATH, "HOME": "/root", "TERM": os.environ.get("TERM", "dumb")}
        return subprocess.run(line, env=env, check=False).returncode
    else:
        return _controller(lab, args)
    return 0


def _controller(lab, args):
    words = _command(args.cmd)
    with lab.network():
        if not args.measure:
            return subprocess.run(words, check=False).returncode
        with lab.measure() as used:
            code = subprocess.run(words, check=False).returncode
    print(json.dumps({key: round(value, 3) for key, value in vars(used).items()}), file=sys.stderr)
    return code


def main():
    """Run one verb."""
    args = _arguments()
    try:
        return _run(Lab(args.state), args)
    except (LabError, OSError) as exc:
        print(f"lab: {exc}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
