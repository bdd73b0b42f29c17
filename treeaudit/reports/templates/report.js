"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  document.querySelectorAll("[data-js]").forEach((part) => { part.hidden = false; });

  const theme = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  dark.addEventListener("change", label);
  label();

  const unfold = (part) => {
    for (let at = part; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  };
  const follow = () => {
    const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!part) return;
    unfold(part);
    (part.querySelector(":scope > details") || part).open = true;
    part.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) follow();
  });
  follow();

  // A browser that cannot print a closed part by its style alone opens it for as long.
  const filed = () => [...document.querySelectorAll(".filed, .how")].filter((part) => !part.open);
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = filed();
    opened.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => { opened.forEach((part) => { part.open = false; }); });

  const rows = [...document.querySelectorAll(".published tbody tr")];
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  const chips = [...document.querySelectorAll(".chips button")];
  let kind = "all";
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = (kind === "all" || row.classList.contains(kind))
        && words.every((word) => text.includes(word));
      row.hidden = !fits;
      count += fits ? 1 : 0;
    }
    shown.textContent = count === rows.length ? "" : `${count} of ${rows.length} rows`;
  };
  const choose = (name) => {
    kind = name;
    chips.forEach((chip) => chip.setAttribute("aria-pressed", String(chip.dataset.kind === kind)));
    filter();
  };
  chips.forEach((chip) => chip.addEventListener("click", () => choose(chip.dataset.kind)));
  if (search) search.addEventListener("input", filter);

  const jump = (id) => {
    const row = id && document.getElementById(id);
    if (!row) return false;
    if (row.hidden) {
      search.value = "";
      choose("all");
    }
    unfold(row);
    rows.forEach((other) => other.classList.toggle("on", other === row));
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
    return true;
  };

  document.querySelectorAll(".drawing[data-icicle]").forEach((area) => {
    const columns = [...area.querySelectorAll(".col")];
    const read = document.getElementById(area.dataset.icicle);
    let at = -1;
    const select = (index) => {
      at = Math.max(0, Math.min(columns.length - 1, index));
      columns.forEach((column, i) => column.classList.toggle("on", i === at));
      read.textContent = columns[at].querySelector("title").textContent;
    };
    const open = (column) => {
      if (!jump(column.dataset.row)) read.textContent += " — not among the rows listed below";
    };
    columns.forEach((column, i) => {
      column.addEventListener("pointerenter", () => select(i));
      column.addEventListener("click", () => { select(i); open(column); });
    });
    area.addEventListener("keydown", (event) => {
      const step = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: columns.length - 1 };
      if (event.key in step) {
        select(step[event.key]);
        columns[at].scrollIntoView({ block: "nearest", inline: "nearest" });
      } else if (event.key === "Enter" && at >= 0) {
        open(columns[at]);
      } else {
        return;
      }
      event.preventDefault();
    });
  });
})();
