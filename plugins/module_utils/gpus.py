# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which GPUs of NVIDIA and AMD the machine has, and what their drivers say of them."""

import os
import re

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find, first_line, text_of

DEVICES = "/sys/bus/pci/devices"
VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD"}
# PCI Code and ID Assignment: display controllers, and processing accelerators, as which AMD's larger ones go.
CLASSES = ("0x03", "0x12")
QUERY = ["--query-gpu=name,memory.total,pci.bus_id", "--format=csv,noheader,nounits"]


def gpus(limit_s):
    """answering: name and memory_mb (None where it is not told) of each whose driver answers; silent: of each other, what it is and why."""
    seen = {vendor: [] for vendor in VENDORS.values()}
    for address in sorted(os.listdir(DEVICES)) if os.path.isdir(DEVICES) else ():
        folder = os.path.join(DEVICES, address)
        try:
            vendor, kind = text_of(folder + "/vendor").strip(), text_of(folder + "/class").strip()
        except Unmeasured:  # taken out meanwhile
            continue
        if vendor in VENDORS and kind.startswith(CLASSES):
            seen[VENDORS[vendor]].append(address)
    answering, silent = [], []
    for address in seen["AMD"]:
        try:
            size = int(text_of("%s/%s/mem_info_vram_total" % (DEVICES, address)))
            answering.append({"name": "AMD %s" % address, "memory_mb": size // 2**20})
        except (Unmeasured, ValueError):
            silent.append({"name": "AMD %s" % address, "reason": "the driver amdgpu does not hold it"})
    try:
        told, reason = _nvidia(limit_s), "nvidia-smi does not name it"
    except Unmeasured as problem:
        told, reason = {}, str(problem)
    answering += told.values()
    # A container sees the buses of its host, with more GPUs than it is given.
    silent += [{"name": "NVIDIA %s" % address, "reason": reason} for address in seen["NVIDIA"] if address not in told]
    return {"answering": answering, "silent": silent}


def _nvidia(limit_s):
    """PCI address -> what is told of it. Asked also where there is none on PCI: under WSL, for instance, they are elsewhere."""
    path = find("nvidia-smi")
    if not path:
        raise Unmeasured("there is no nvidia-smi")
    status, out, err = command([path] + QUERY, limit_s)
    if status:
        raise Unmeasured("nvidia-smi: %s" % (first_line(out) or first_line(err) or "exit status %d" % status))
    found = {}
    for line in out.splitlines():
        fields = [field.strip() for field in line.rsplit(",", 2)]
        if len(fields) == 3:
            # It writes the domain in eight digits, the kernel in four.
            size = int(fields[1]) if re.match("[0-9]{1,15}$", fields[1]) else None
            found[fields[2].lower()[-12:]] = {"name": fields[0], "memory_mb": size}
    return found
