"use strict";
(() => {
  // Places in a finding, and in a row.
  const CHECK = 0, STATE = 1, DETAIL = 2, FIX = 3, REASON = 4;
  const MACHINE = 0, ADDRESS = 1, ROLES = 2, FINDINGS = 3;
  const find = (selector) => document.querySelector(selector);
  const data = JSON.parse(find("#data").textContent);
  const table = find(".grid"), form = find("#filter"), shown = find("#shown");
  const rows = [...table.tBodies[0].rows];
  const checks = [...table.tHead.rows[0].cells].slice(2);
  const names = checks.map((cell) => cell.textContent.trim());
  const plural = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  const make = (tag, className, ...inside) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...inside);
    return made;
  };

  // Fixes and names to copy.
  const told = make("output", "unseen");
  told.setAttribute("aria-live", "polite");
  document.body.append(told);
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = make("textarea", "unseen");
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
  };
  const copier = (label, check, text) => {
    const button = make("button", "", label);
    button.type = "button";
    button.setAttribute("aria-label", `${label}: ${check}`);
    button.addEventListener("click", async () => {
      await copy(text);
      told.textContent = `Copied: ${text.slice(0, 80)}`;
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; }, 1500);
    });
    return button;
  };
  for (const fix of document.querySelectorAll(".fix")) {
    const machines = data.copies[fix.dataset.part].map((row) => data.rows[row][MACHINE]);
    const check = fix.closest("article").querySelector(".check").textContent;
    const copies = make("span", "copies", copier("Copy fix", check, fix.querySelector(".do").textContent));
    if (machines.length) copies.append(copier(machines.length === 1 ? "Copy name" : `Copy ${machines.length} names`, check, machines.join(",")));
    if (fix.dataset.waiver) copies.append(copier("Copy waiver", check, fix.dataset.waiver));
    fix.append(copies);
  }

  // Details of a machine below its row.
  const item = (finding, at) => {
    const state = data.states[finding[STATE]];
    const made = make("li", finding[CHECK] === at ? "at" : "",
      make("b", `mark ${state}`, state), " ", make("span", "check", names[finding[CHECK]]), " ", make("span", "what", data.texts[finding[DETAIL]]));
    if (finding[FIX] !== undefined && data.texts[finding[FIX]]) made.append(make("span", "then", "→ ", data.texts[finding[FIX]]));
    if (finding[REASON] !== undefined) made.append(make("span", "then", "Waived: ", data.texts[finding[REASON]]));
    return made;
  };
  const severity = (finding) => finding[STATE];
  const toggle = (number, at) => {
    const row = rows[number], button = row.cells[0].firstElementChild;
    const open = row.nextElementSibling?.className === "more" ? row.nextElementSibling : null;
    open?.remove();
    const close = open && (at === undefined || open.dataset.at === String(at));
    button.setAttribute("aria-expanded", String(!close));
    if (close) return;
    const [machine, address, roles, findings] = data.rows[number];
    const list = make("ul", "", ...[...findings].sort((one, other) => severity(one) - severity(other)).map((finding) => item(finding, at)));
    const head = make("p", "quiet", [address !== machine && address, roles.join(", "), plural(findings.length, "finding")].filter(Boolean).join(" · "));
    const cell = make("td", "", make("div", "", head, list));
    cell.colSpan = checks.length + 2;
    const more = make("tr", "more", cell);
    more.dataset.at = String(at);
    more.hidden = row.hidden;
    row.after(more);
  };
  rows.forEach((row, number) => {
    const button = make("button", "", row.cells[0].textContent.trim());
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => toggle(number));
    row.cells[0].replaceChildren(button);
  });
  const place = (target) => {
    const cell = target.closest("td"), number = rows.indexOf(cell?.parentNode);
    return number >= 0 && cell.className.length === 1 ? [number, cell.cellIndex - 2, cell] : null;
  };
  table.addEventListener("click", (event) => {
    const at = place(event.target);
    if (at) toggle(at[0], at[1]);
  });
  table.addEventListener("mouseover", (event) => {
    const at = place(event.target);
    if (at) at[2].title = data.rows[at[0]][FINDINGS].filter((finding) => finding[CHECK] === at[1])
      .map((finding) => `${names[at[1]]}: ${data.texts[finding[DETAIL]]}`).join("\n");
  });

  // The filter.
  const machines = data.rows.filter((row) => row[ADDRESS] !== "").length;
  const lower = data.texts.map((text) => text.toLowerCase());
  const filter = () => {
    const wanted = new FormData(form);
    const level = data.states.indexOf(wanted.get("level")), role = wanted.get("role");
    const machine = wanted.get("machine").trim().toLowerCase(), text = wanted.get("text").trim().toLowerCase();
    const narrow = level >= 0 || text !== "";
    const hit = (finding) => (level < 0 || finding[STATE] === level)
      && (names[finding[CHECK]].includes(text) || finding.slice(DETAIL).some((number) => lower[number].includes(text)));
    const columns = new Set();
    let number = 0, together = 0;
    rows.forEach((row, place) => {
      const [name, address, roles, findings] = data.rows[place];
      const hits = findings.filter(hit);
      const show = (role === "" || roles.includes(role)) && (name.toLowerCase().includes(machine) || address.toLowerCase().includes(machine))
        && (hits.length > 0 || !narrow);
      row.hidden = !show;
      if (row.nextElementSibling?.className === "more") row.nextElementSibling.hidden = !show;
      if (!show) return;
      number += 1;
      together += address === "";
      for (const finding of hits) columns.add(finding[CHECK]);
    });
    checks.forEach((cell, place) => {
      const hide = narrow && !columns.has(place);
      if (cell.hidden === hide) return;
      cell.hidden = hide;
      for (const row of rows) row.cells[place + 2].hidden = hide;
    });
    const some = narrow ? columns.size : checks.length;
    shown.textContent = `${number - together} of ${plural(machines, "machine")} shown, ${some} of ${plural(checks.length, "check")}`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.hidden = false;
  document.documentElement.classList.add("js-on");
  for (const hint of document.querySelectorAll(".js")) hint.hidden = false;
  filter();

  // On paper nothing is folded, also where the style can not say so.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
})();
