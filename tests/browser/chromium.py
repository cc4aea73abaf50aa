"""Where the browser is, and how it starts."""

import shutil

# Without a path, playwright takes the one that it can install itself. Root can't have a sandbox.
LAUNCH = {
    "executable_path": next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None),
    "args": ["--no-sandbox"],
}
