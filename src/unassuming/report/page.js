"use strict";
(() => {
  const signed = (text) => text.replace(/-/g, "\u2212");
  const shown = (v) => {
    if (v === null) return "\u221e";
    const size = Math.abs(v);
    if (size && (size >= 1e7 || size < 1e-4)) return signed(v.toExponential(3));
    return signed(String(Number(v.toPrecision(4))));
  };
  const make = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const ticks = (low, high, most) => {
    const rough = (high - low) / most;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => unit * k).find((s) => s >= rough * 0.999999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9; k++) {
      found.push(Number((k * step).toPrecision(12)));
    }
    return found;
  };

  // Tables: choose a heading to sort by it, choose it again for the other direction.
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, j) => head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const text = head.classList.contains("name");
      const key = (row) => {
        const value = row.cells[j].dataset.value;
        return text ? value : value === "" ? NaN : Number(value);
      };
      const compare = (a, b) => {
        const [p, q] = [key(a), key(b)];
        if (text) return p.localeCompare(q, "en", { numeric: true });
        if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
        return p < q ? -1 : p > q ? 1 : 0;
      };
      const rows = [...body.rows].sort((a, b) => (up ? compare(a, b) : compare(b, a)));
      body.append(...rows);
    }));
  }

  // Bands: point at a picture for numbers, switch levels, drag to zoom in.
  for (const figure of document.querySelectorAll("figure.bands")) {
    const data = JSON.parse(figure.dataset.panel);
    const [left, top, right, bottom] = data.box;
    const stage = figure.querySelector(".stage"), picture = figure.querySelector("svg");
    const plot = picture.querySelector(".plot"), axes = picture.querySelector(".axes");
    const cursor = plot.querySelector(".cursor"), brush = plot.querySelector(".brush");
    const readout = figure.querySelector(".readout"), reset = figure.querySelector(".reset");
    const names = [...axes.querySelectorAll("text.name")];
    const whole = data.frame;
    let [x0, x1, y0, y1] = whole, at = null, start = null;
    const X = (v) => left + (v - x0) / (x1 - x0) * (right - left);
    const Y = (v) => bottom - (v - y0) / (y1 - y0) * (bottom - top);
    const off = () => new Set([...figure.querySelectorAll("input")].filter((i) => !i.checked).map((i) => i.value));

    const area = (band) => {
      const far = y1 - y0, inside = (v, end) => Math.min(Math.max(v === null ? end : v, y0 - far), y1 + far);
      const there = data.x.map((x, i) => `${X(x).toFixed(1)},${Y(inside(band.upper[i], y1 + far)).toFixed(1)}`);
      const back = data.x.map((x, i) => `${X(x).toFixed(1)},${Y(inside(band.lower[i], y0 - far)).toFixed(1)}`);
      return `M${[...there, ...back.reverse()].join("L")}Z`;
    };
    const draw = () => {
      for (const band of data.bands) {
        plot.querySelector(`[data-level="${band.level}"]`).setAttribute("d", area(band));
      }
      const curve = data.x.map((x, i) => `${X(x).toFixed(1)},${Y(data.estimate[i]).toFixed(1)}`);
      plot.querySelector(".estimate").setAttribute("d", `M${curve.join("L")}`);
      plot.querySelectorAll(".dot").forEach((dot, i) => {
        dot.setAttribute("cx", X(data.points[0][i]).toFixed(1));
        dot.setAttribute("cy", Y(data.points[1][i]).toFixed(1));
      });
      const fresh = [];
      for (const v of ticks(x0, x1, 6)) {
        const x = X(v).toFixed(1);
        fresh.push(make("line", { x1: x, x2: x, y1: bottom, y2: bottom + 5, class: "tick" }));
        fresh.push(make("text", { x, y: bottom + 20, "text-anchor": "middle" }, shown(v)));
      }
      for (const v of ticks(y0, y1, 5)) {
        const y = Y(v).toFixed(1);
        fresh.push(make("line", { x1: left, x2: right, y1: y, y2: y, class: "grid" }));
        fresh.push(make("text", { x: left - 8, y, "text-anchor": "end", "dominant-baseline": "middle" }, shown(v)));
      }
      fresh.push(make("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }));
      axes.replaceChildren(...fresh, ...names);
      reset.hidden = x0 === whole[0] && x1 === whole[1];
    };
    const zoom = (a, b) => {
      [x0, x1] = [a, b];
      const seen = [], keep = (x, v) => { if (v !== null && x >= x0 && x <= x1) seen.push(v); };
      const hidden = off();
      data.x.forEach((x, i) => keep(x, data.estimate[i]));
      data.points[0].forEach((x, i) => keep(x, data.points[1][i]));
      for (const band of data.bands.filter((one) => !hidden.has(one.level))) {
        data.x.forEach((x, i) => { keep(x, band.lower[i]); keep(x, band.upper[i]); });
      }
      const low = Math.max(Math.min(...seen), whole[2]), high = Math.min(Math.max(...seen), whole[3]);
      if (high > low) [y0, y1] = [low - 0.04 * (high - low), high + 0.04 * (high - low)];
      draw();
      show(null);
    };
    const show = (i) => {
      at = i;
      cursor.style.visibility = i === null ? "hidden" : "visible";
      if (i === null) return;
      const x = X(data.x[i]).toFixed(1), hidden = off();
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      const bands = data.bands.filter((one) => !hidden.has(one.level)).map((one) => {
        const low = one.lower[i] === null ? "\u2212\u221e" : shown(one.lower[i]);
        return `${one.name}: ${low} to ${shown(one.upper[i])}`;
      });
      readout.textContent = [`${data.name} = ${shown(data.x[i])}: estimate ${shown(data.estimate[i])}`, ...bands].join("; ");
    };
    const place = (event) => {
      const box = picture.getBoundingClientRect();
      return (event.clientX - box.left) / box.width * picture.viewBox.baseVal.width;
    };
    const value = (px) => x0 + (Math.min(Math.max(px, left), right) - left) / (right - left) * (x1 - x0);
    const nearest = (v) => {
      let best = null;
      data.x.forEach((x, i) => {
        const inside = x >= x0 && x <= x1;
        if (inside && (best === null || Math.abs(x - v) < Math.abs(data.x[best] - v))) best = i;
      });
      return best;
    };

    stage.addEventListener("pointerdown", (event) => {
      start = place(event);
      if (event.pointerType === "mouse") stage.setPointerCapture(event.pointerId);
      show(nearest(value(start)));
    });
    stage.addEventListener("pointermove", (event) => {
      const px = place(event);
      show(nearest(value(px)));
      if (start === null || event.buttons === 0) return;
      const [a, b] = [Math.min(start, px), Math.max(start, px)];
      brush.setAttribute("x", a);
      brush.setAttribute("width", b - a);
      brush.style.visibility = "visible";
    });
    stage.addEventListener("pointerup", (event) => {
      brush.style.visibility = "hidden";
      const px = place(event);
      if (start !== null && Math.abs(px - start) > 12) {
        const [a, b] = [value(Math.min(start, px)), value(Math.max(start, px))];
        if (data.x.filter((x) => x >= a && x <= b).length > 2) zoom(a, b);
      }
      start = null;
    });
    stage.addEventListener("pointercancel", () => { start = null; brush.style.visibility = "hidden"; });
    stage.addEventListener("pointerleave", () => { if (start === null) show(null); });
    stage.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const next = at === null ? 0 : Math.min(Math.max(at + step, 0), data.x.length - 1);
      show(next);
    });
    reset.addEventListener("click", () => { [x0, x1, y0, y1] = whole; draw(); show(null); });
    figure.querySelectorAll("input").forEach((input) => input.addEventListener("change", () => {
      plot.querySelector(`[data-level="${input.value}"]`).classList.toggle("off", !input.checked);
      if (at !== null) show(at);
    }));
  }
})();
