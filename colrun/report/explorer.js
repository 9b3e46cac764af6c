// The explorer: draws the curves of the setting that a reader picks. No library; the data are in the page.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("choices");
  if (!form || !data.settings.length) return;

  const chart = document.getElementById("chart");
  const readout = document.getElementById("readout");
  const SVG = "http://www.w3.org/2000/svg";
  const AXES = data.axes; // { name, title, usual }
  const WORDS = { step_size: (v) => (v ? v.toExponential().replace("e-", "e−") : "none: w is fixed") };
  const STATISTICS = { mean: "mean ± one standard error", median: "median and quartiles" };
  const state = { metric: Object.keys(data.metrics)[0], statistic: "mean", hidden: new Set(), level: null, curve: null };

  // ---- what is chosen ------------------------------------------------------------------------------------------
  /** Values of an axis that exist together with what is chosen on the axes before it. */
  function offered(place) {
    const before = AXES.slice(0, place).map((axis) => axis.name);
    const fitting = data.settings.filter((s) => before.every((key) => s[key] === state[key]));
    return [...new Set(fitting.map((s) => s[AXES[place].name]))].sort((a, b) => (typeof a === "number" ? a - b : 0));
  }

  /** The nearest setting that exists: what was chosen is kept where it can be. */
  function settle() {
    AXES.forEach(({ name, usual }, place) => {
      const values = offered(place);
      if (!values.includes(state[name])) state[name] = usual.find((v) => values.includes(v)) ?? values[0];
    });
    return data.settings.find((s) => AXES.every(({ name }) => s[name] === state[name])).curves;
  }

  // ---- small makers --------------------------------------------------------------------------------------------
  function element(name, attributes = {}, text = null, space = null) {
    const made = space ? document.createElementNS(space, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }
  const svg = (name, attributes, text = null) => element(name, attributes, text, SVG);
  const percent = () => data.metrics[state.metric][1] === "percent";

  function number(value, digits) {
    if (value === null || value === undefined) return "–";
    if (percent()) return `${(100 * value).toFixed(digits ?? 2)} %`;
    return value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  }
  function levelName(level) {
    return level === state.columns - 1 && level > 0 ? "dense" : `${Number((100 * level).toPrecision(6))} %`;
  }

  // ---- controls ------------------------------------------------------------------------------------------------
  function picker(key, title, options) {
    const label = element("label", { class: "pick" }, title);
    const select = element("select", { name: key });
    for (const [value, text] of options) {
      const option = element("option", { value: JSON.stringify(value) }, text);
      option.selected = state[key] === value;
      select.append(option);
    }
    select.addEventListener("change", () => { state[key] = JSON.parse(select.value); state.level = state.curve = null; update(key); });
    label.append(select);
    return label;
  }

  function controls(curves, focus) {
    form.replaceChildren();
    AXES.forEach(({ name, title }, place) => {
      form.append(picker(name, title, offered(place).map((value) => [value, (WORDS[name] ?? String)(value)])));
    });
    form.append(picker("metric", "metric", Object.entries(data.metrics).map(([key, [title]]) => [key, title])));
    form.append(picker("statistic", "shown as", Object.entries(STATISTICS)));
    const box = element("fieldset");
    box.append(element("legend", {}, "estimators"));
    for (const curve of curves) {
      const label = element("label");
      const input = element("input", { type: "checkbox", name: "estimator", value: curve.name });
      input.checked = !state.hidden.has(curve.name);
      input.addEventListener("change", () => {
        if (input.checked) state.hidden.delete(curve.name); else state.hidden.add(curve.name);
        state.curve = null;
        draw();
      });
      const key = svg("svg", { viewBox: "0 0 36 12", "aria-hidden": "true" });
      key.append(svg("line", { x1: 1, x2: 35, y1: 6, y2: 6, stroke: curve.colour, "stroke-width": curve.width, "stroke-dasharray": curve.dash }));
      label.append(input, key, document.createTextNode(curve.name));
      box.append(label);
    }
    for (const [title, hide] of [["all", false], ["none", true]]) {
      const button = element("button", { type: "button" }, title);
      button.addEventListener("click", () => {
        for (const curve of curves) if (hide) state.hidden.add(curve.name); else state.hidden.delete(curve.name);
        update();
        form.querySelectorAll("button")[hide ? 1 : 0].focus();
      });
      box.append(button);
    }
    form.append(box);
    if (focus) form.querySelector(`select[name="${focus}"]`).focus();
  }

  // ---- the chart -----------------------------------------------------------------------------------------------
  let now = null; // curves on show, their look, levels and scales

  function ticks(low, high, wanted) {
    const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) found.push(Number((k * step).toPrecision(12)));
    return found;
  }

  /** [value, from, to] of a curve at one of its levels. */
  function values(curve, place) {
    const [mean, error, median, lower, upper] = curve[state.metric].map((list) => list[place]);
    if (state.statistic === "median") return [median, lower, upper];
    return [mean, mean === null ? null : mean - (error ?? 0), mean === null ? null : mean + (error ?? 0)];
  }

  function draw() {
    const curves = settle();
    const shown = curves.filter((c) => !state.hidden.has(c.name) && c[state.metric]);
    const W = Math.max(300, chart.clientWidth), H = Math.round(Math.min(Math.max(W * 0.56, 300), 520));
    const pad = { left: percent() ? 48 : 58, right: W < 560 ? 46 : 118, top: 34, bottom: 58 };
    const levels = [...new Set(shown.flatMap((c) => c.lateral))].sort((a, b) => a - b);
    const positive = levels.filter((l) => l > 0);
    const zero = (positive.length ? positive[0] : 1) / 4; // where 0 stands on the logarithmic axis
    const from = Math.log10(levels.includes(0) || !positive.length ? zero : positive[0]);
    const to = Math.log10(positive.length ? positive[positive.length - 1] : 1);
    const x = (level) => pad.left + 8 + ((Math.log10(level || zero) - from) / (to - from || 1)) * (W - pad.left - pad.right - 16);
    const all = shown.flatMap((c) => c.lateral.flatMap((_, k) => values(c, k))).filter((v) => v !== null);
    let low = Math.min(...all), high = Math.max(...all);
    if (!all.length) [low, high] = [0, 1];
    if (high - low < 1e-9 * (Math.abs(high) || 1)) [low, high] = [low - 0.01, high + 0.01];
    const margin = 0.04 * (high - low);
    [low, high] = [low - margin, percent() && high <= 1 ? Math.min(high + margin, 1 + margin / 2) : high + margin];
    const y = (value) => H - pad.bottom - ((value - low) / (high - low)) * (H - pad.top - pad.bottom);

    const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" });
    for (const tick of ticks(low, high, 6)) {
      picture.append(svg("line", { class: "grid", x1: pad.left, x2: W - pad.right, y1: y(tick), y2: y(tick) }));
      const text = percent() ? `${Number((100 * tick).toPrecision(6))} %` : number(tick);
      picture.append(svg("text", { class: "axis", x: pad.left - 6, y: y(tick) + 4, "text-anchor": "end" }, text));
    }
    let written = Infinity; // from the right, so that "dense" is never the one left out
    for (const level of levels.slice().reverse()) {
      picture.append(svg("line", { class: "grid", x1: x(level), x2: x(level), y1: H - pad.bottom, y2: H - pad.bottom + 5 }));
      if (written - x(level) < 17) continue;
      written = x(level);
      const name = levelName(level).replace(" %", "");
      picture.append(svg("text", { class: "axis", transform: `translate(${x(level) + 4} ${H - pad.bottom + 16}) rotate(-40)`, "text-anchor": "end" }, name));
    }
    const [title] = data.metrics[state.metric];
    picture.append(svg("text", { class: "title", x: 12, y: 20 }, W < 560 ? state.metric : title));
    picture.append(svg("text", { class: "axis", x: (pad.left + W - pad.right) / 2, y: H - 8, "text-anchor": "middle" }, "lateral connections (% of own)"));
    picture.append(svg("line", { class: "guide", x1: 0, x2: 0, y1: pad.top, y2: H - pad.bottom, visibility: "hidden" }));

    const ends = [];
    for (const curve of shown) {
      const points = curve.lateral.map((level, k) => [x(level), ...values(curve, k)]).filter((p) => p[1] !== null);
      if (!points.length) continue;
      const group = svg("g", { "data-curve": curve.name });
      const line = (pairs) => pairs.map(([px, py]) => `${px.toFixed(1)},${y(py).toFixed(1)}`).join(" ");
      const band = [...points.map((p) => [p[0], p[3]]), ...points.map((p) => [p[0], p[2]]).reverse()];
      group.append(svg("polygon", { points: line(band), fill: curve.colour, opacity: 0.16 }));
      group.append(svg("polyline", { class: "curve", points: line(points), fill: "none", stroke: curve.colour, "stroke-width": curve.width, "stroke-dasharray": curve.dash, "stroke-linejoin": "round" }));
      for (const p of points) group.append(svg("circle", { cx: p[0].toFixed(1), cy: y(p[1]).toFixed(1), r: 2.4, fill: curve.colour }));
      picture.append(group);
      const last = points[points.length - 1];
      if (curve.end) {
        const short = W < 560 && curve.end === curve.name ? curve.name.split("-").map((w) => w[0].toUpperCase()).join("") : curve.end;
        ends.push({ x: last[0] + 8, y: y(last[1]), text: short, colour: curve.colour, curve: curve.name });
      }
    }
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((end, k) => { if (k && end.y < ends[k - 1].y + 13) end.y = ends[k - 1].y + 13; });
    const over = ends.length ? ends[ends.length - 1].y - (H - pad.bottom) : 0;
    if (over > 0) for (let k = ends.length - 1, limit = H - pad.bottom; k >= 0 && ends[k].y > limit; k -= 1, limit -= 13) ends[k].y = limit;
    for (const end of ends) picture.append(svg("text", { class: "end", x: end.x, y: end.y + 4, fill: end.colour, "data-end": end.curve }, end.text));
    chart.querySelector("svg").replaceWith(picture);

    now = { shown, levels, x, W };
    const lost = shown.reduce((sum, c) => sum + c.diverged.reduce((a, b) => a + b, 0), 0);
    const counts = shown.flatMap((c) => c.n);
    const n = counts.length ? `${Math.min(...counts)}${Math.min(...counts) === Math.max(...counts) ? "" : ` to ${Math.max(...counts)}`}` : "0";
    document.getElementById("chart-note").textContent =
      `n = ${n} networks per point${lost ? `; ${lost} diverged rows are left out` : ""}. Solid: sliding window; dashed: blocks.`;
    chart.setAttribute("aria-label", `${title} against lateral connections, reading ${state.reading}, cell ${state.cell}, ${state.columns} columns of width ${state.width}: ${shown.length} curves`);
    table(shown, levels);
    point();
    return curves;
  }

  function described(curve, level) {
    const place = curve.lateral.indexOf(level);
    if (place < 0) return null;
    const [mean, error, median, lower, upper] = curve[state.metric].map((list) => list[place]);
    return { mean, cells: [
      error === null ? number(mean) : `${number(mean)} ± ${number(error)}`, number(median), `${number(lower)} … ${number(upper)}`,
      String(curve.n[place] - curve.diverged[place]), String(curve.diverged[place]),
    ] };
  }

  /** Guide line and values at the chosen level; the chosen curve stands out. */
  function point() {
    const guide = chart.querySelector(".guide");
    if (state.level === null || !now.levels.includes(state.level)) {
      guide.setAttribute("visibility", "hidden");
      readout.replaceChildren();
      chart.querySelectorAll(".faded").forEach((g) => g.classList.remove("faded"));
      return;
    }
    const at = now.x(state.level);
    for (const key of ["x1", "x2"]) guide.setAttribute(key, at);
    guide.setAttribute("visibility", "visible");
    for (const part of chart.querySelectorAll("[data-curve], [data-end]")) {
      const name = part.dataset.curve ?? part.dataset.end;
      part.classList.toggle("faded", state.curve !== null && name !== state.curve);
    }
    const found = element("table");
    found.append(element("caption", {}, `Lateral connections: ${levelName(state.level)}`));
    const head = element("tr");
    for (const title of ["estimator", "mean ± se", "median", "quartiles", "networks", "diverged"]) head.append(element("th", { scope: "col" }, title));
    const top = element("thead");
    top.append(head);
    const body = element("tbody");
    const rows = now.shown.map((c) => [c, described(c, state.level)]).filter(([, d]) => d);
    rows.sort((a, b) => (b[1].mean ?? -Infinity) - (a[1].mean ?? -Infinity));
    for (const [curve, { cells }] of rows) {
      const row = element("tr", curve.name === state.curve ? { class: "chosen" } : {});
      row.append(element("th", { scope: "row" }, curve.name), ...cells.map((cell) => element("td", {}, cell)));
      body.append(row);
    }
    found.append(top, body);
    readout.replaceChildren(found);
  }

  function table(shown, levels) {
    const target = document.getElementById("values");
    const head = element("tr");
    head.append(element("th", { scope: "col" }, "estimator"), ...levels.map((l) => element("th", { scope: "col" }, levelName(l))));
    const top = element("thead"), body = element("tbody");
    top.append(head);
    for (const curve of shown) {
      const row = element("tr");
      row.append(element("th", { scope: "row" }, curve.name));
      for (const level of levels) {
        const place = curve.lateral.indexOf(level);
        const [value, from, to] = place < 0 ? [null] : values(curve, place);
        const text = value === null ? "–" : state.statistic === "median" ? `${number(value)} (${number(from)} … ${number(to)})` : `${number(value)} ± ${number(to - value)}`;
        row.append(element("td", {}, text));
      }
      body.append(row);
    }
    target.replaceChildren(top, body);
  }

  // ---- pointer and keyboard ------------------------------------------------------------------------------------
  function follow(event) {
    if (!now.levels.length) return;
    const box = chart.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * now.W;
    const level = now.levels.reduce((best, l) => (Math.abs(now.x(l) - at) < Math.abs(now.x(best) - at) ? l : best));
    if (level !== state.level || state.curve !== null) { state.level = level; state.curve = null; point(); }
  }
  chart.addEventListener("pointermove", follow);
  chart.addEventListener("pointerdown", follow);
  chart.addEventListener("focus", () => {
    if (state.level === null && now.levels.length && chart.matches(":focus-visible")) { state.level = now.levels[0]; point(); }
  });
  chart.addEventListener("keydown", (event) => {
    const { levels, shown } = now;
    if (!levels.length) return;
    const place = Math.max(0, levels.indexOf(state.level)), names = shown.map((c) => c.name), on = names.indexOf(state.curve);
    const move = {
      ArrowRight: () => { state.level = levels[Math.min(place + (state.level === null ? 0 : 1), levels.length - 1)]; },
      ArrowLeft: () => { state.level = levels[Math.max(place - 1, 0)]; },
      Home: () => { state.level = levels[0]; },
      End: () => { state.level = levels[levels.length - 1]; },
      ArrowDown: () => { state.level ??= levels[0]; state.curve = names[(on + 1) % names.length]; },
      ArrowUp: () => { state.level ??= levels[0]; state.curve = names[(on <= 0 ? names.length : on) - 1]; },
      Escape: () => { state.level = state.curve = null; },
    }[event.key];
    if (!move) return;
    event.preventDefault();
    move();
    point();
  });

  function update(focus) {
    controls(draw(), focus);
  }
  new ResizeObserver(() => { if (now && Math.abs(chart.clientWidth - now.W) > 1) draw(); }).observe(chart);
  update();
})();
