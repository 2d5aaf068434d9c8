(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  const byId = (id) => document.getElementById(id);
  const rows = [...document.querySelectorAll(".row")];
  const remembered = (() => { try { return localStorage.getItem("optiml-scheme"); } catch { return null; } })();
  if (remembered === "dark" || remembered === "light") root.dataset.scheme = remembered;

  const select = (id, scroll) => {
    const article = byId("node-" + id);
    if (!article) return;
    document.querySelectorAll(".node.current, .row.current").forEach((e) => e.classList.remove("current"));
    article.classList.add("current");
    const row = rows.find((r) => r.dataset.node === String(id));
    if (row) {
      row.classList.add("current");
      row.setAttribute("aria-current", "true");
      const tree = row.parentElement;
      const top = row.offsetTop - tree.offsetTop;
      if (top < tree.scrollTop || top > tree.scrollTop + tree.clientHeight - 40) tree.scrollTop = top - tree.clientHeight / 2;
    }
    rows.filter((r) => r !== row).forEach((r) => r.removeAttribute("aria-current"));
    article.parentElement.scrollTop = 0;
    if (scroll) byId("tree").scrollIntoView();
  };
  const fromHash = () => {
    const match = /^#node-(\d+)$/.exec(location.hash);
    if (match) select(match[1], true);
    return match !== null;
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#node-"]');
    if (!link) return;
    event.preventDefault();
    select(link.getAttribute("href").slice(6), !link.closest("#tree"));
    history.replaceState(null, "", link.getAttribute("href"));
  });
  addEventListener("hashchange", fromHash);
  const best = document.querySelector(".row.best") || rows[0];
  if (!fromHash() && best) select(best.dataset.node, false);

  const tree = document.querySelector(".tree");
  if (tree) tree.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    const next = step && rows[rows.indexOf(document.querySelector(".row.current")) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
    select(next.dataset.node, false);
  });

  document.querySelectorAll("[data-filter]").forEach((input) => {
    input.hidden = false;
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      byId(input.dataset.filter).querySelectorAll("tbody tr").forEach((row) => {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
      });
    });
  });
  document.querySelectorAll("[data-copy]").forEach((button) => {
    if (!navigator.clipboard) return;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(byId(button.dataset.copy).textContent);
      button.textContent = "copied";
    });
  });
  const scheme = byId("scheme");
  scheme.hidden = false;
  scheme.addEventListener("click", () => {
    const dark = root.dataset.scheme ? root.dataset.scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.scheme = dark ? "light" : "dark";
    try { localStorage.setItem("optiml-scheme", root.dataset.scheme); } catch { /* a page from a file may have no storage */ }
  });
})();
