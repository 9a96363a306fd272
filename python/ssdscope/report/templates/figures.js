// Makes the pictures of the page answer: values under the pointer or at the arrow keys, and zoom.
// It draws nothing that is not there without it, and loads nothing.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const STEPS = { bytes: [["G", 2 ** 30], ["M", 2 ** 20], ["K", 1024], ["", 1]],
    ns: [[" s", 1e9], [" ms", 1e6], [" µs", 1e3], [" ns", 1]],
    "bytes/s": [[" GB/s", 1e9], [" MB/s", 1e6], [" kB/s", 1e3], [" B/s", 1]],
    iops: [["M", 1e6], ["k", 1e3], ["", 1]] };
  const REACH = 44;   // pixels from a pointer to the point that it means
  const LEAST = 9;    // pixels that a drag must span to be one
  const MOST_ZOOM = 400;

  function written(value, unit) {
    if (unit === "beyond") return `p${+(100 * (1 - value)).toFixed(3)}`;
    const [name, scale] = (STEPS[unit] || []).find(([, scale]) => Math.abs(value) >= scale) || ["", 1];
    return `${+(value / scale).toPrecision(4)}${name}`;
  }

  function make(name, attributes, parent) {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    parent.append(node);
    return node;
  }

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  document.body.append(tip);

  // Ticks between two values: powers on a long log scale, else multiples of a round number.
  function ticks(low, high, log, unit) {
    const places = [];
    if (low > high) [low, high] = [high, low];
    if (log && high / low > 8) {
      const base = unit === "bytes" || unit === "depth" ? 2 : 10;
      const powers = Math.log(high / low) / Math.log(base);
      const every = Math.max(1, Math.round(powers / 6));
      const parts = base === 10 && powers < 3 ? [1, 2, 5] : [1];
      for (let power = Math.floor(Math.log(low) / Math.log(base)); base ** power <= high; power += every)
        for (const part of parts) places.push(part * base ** power);
      return places.filter((place) => place >= low * 0.999 && place <= high * 1.001);
    }
    const rough = (high - low) / 5;
    let step;
    if (unit === "bytes") step = 2 ** Math.round(Math.log2(rough));
    else {
      const power = 10 ** Math.floor(Math.log10(rough));
      step = power * [1, 2, 5, 10].find((each) => each * power >= rough * 0.8);
    }
    for (let place = Math.ceil(low / step - 1e-9) * step; place <= high + step * 1e-9; place += step) places.push(place);
    return places;
  }

  class Plot {
    constructor(svg) {
      this.svg = svg;
      Object.assign(this, JSON.parse(svg.dataset.plot));
      [this.left, this.top, this.width, this.height] = this.box;
      this.at = [0, -1];
      this.moving = [];
      this.texts = [];
      for (const node of svg.querySelectorAll("[clip-path]")) if (!node.closest(".xtick, .ytick")) this.release(node);
      for (const node of svg.querySelectorAll("text")) if (!node.closest(".xtick, .ytick")) this.note(node);
      this.live = make("g", { class: "live" }, svg);
      svg.prepend(this.live);
      this.ring = make("circle", { class: "ring", r: 5, visibility: "hidden" }, svg);
      this.frame = make("rect", { class: "frame", visibility: "hidden" }, svg);
      this.listen();
      this.bar();
      this.reset();
    }

    // A clip moves with what it clips: it goes to a group around, which stays.
    release(node) {
      const outer = document.createElementNS(SVG, "g"), inner = document.createElementNS(SVG, "g");
      inner.setAttribute("class", "moves");
      outer.setAttribute("clip-path", node.getAttribute("clip-path"));
      node.removeAttribute("clip-path");
      node.replaceWith(outer);
      outer.append(inner);
      inner.append(node);
      const marks = [...inner.querySelectorAll("use")].filter((each) => {
        const drawn = this.svg.querySelector(each.getAttribute("xlink:href") || each.getAttribute("href"));
        const size = drawn && drawn.getBBox();
        return size && size.width < 14 && size.height < 14 && +each.getAttribute("x");
      });
      if (marks.length) for (const each of marks) this.moving.push([each, +each.getAttribute("x"), +each.getAttribute("y")]);
      else this.moving.push([inner]);
    }

    // Words within the axes, or right of them, belong to a place.
    note(node) {
      const size = node.getBBox(), shift = node.getCTM() && this.svg.getCTM();
      if (!shift) return;
      const own = this.svg.getCTM().inverse().multiply(node.getCTM());
      const x = own.a * (size.x + size.width / 2) + own.c * (size.y + size.height / 2) + own.e;
      const y = own.b * (size.x + size.width / 2) + own.d * (size.y + size.height / 2) + own.f;
      if (y < this.top - 2 || y > this.top + this.height || x < this.left) return;
      this.texts.push([node, node.getAttribute("transform") || "", x, y, x > this.left + this.width]);
    }

    listen() {
      const svg = this.svg;
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("pointermove", (event) => this.drag ? this.stretch(event) : this.point(event));
      svg.addEventListener("pointerleave", () => this.hide());
      svg.addEventListener("blur", () => this.hide());
      svg.addEventListener("dblclick", () => this.reset());
      svg.addEventListener("pointerdown", (event) => {
        if (event.pointerType === "touch") return this.point(event);
        if (event.button) return;
        event.preventDefault();
        svg.focus({ preventScroll: true });
        svg.setPointerCapture(event.pointerId);
        this.drag = this.place(event);
      });
      svg.addEventListener("pointerup", (event) => this.drop(event));
      svg.addEventListener("pointercancel", () => { this.drag = null; this.frame.setAttribute("visibility", "hidden"); });
      svg.addEventListener("keydown", (event) => this.key(event));
    }

    bar() {
      const bar = document.createElement("div");
      bar.className = "tools";
      for (const [sign, name, act] of [["+", "Zoom in", () => this.zoom(2)], ["−", "Zoom out", () => this.zoom(0.5)], ["↺", "Show all", () => this.reset()]]) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = sign;
        button.title = name;
        button.setAttribute("aria-label", name);
        button.addEventListener("click", act);
        bar.append(button);
      }
      this.svg.parentNode.append(bar);
    }

    key(event) {
      const shown = this.series, [row, spot] = this.at;
      const act = {
        ArrowRight: () => this.choose(row, spot + 1), ArrowLeft: () => this.choose(row, spot - 1),
        ArrowDown: () => this.choose(row + 1, spot), ArrowUp: () => this.choose(row + shown.length - 1, spot),
        "+": () => this.zoom(2), "=": () => this.zoom(2), "-": () => this.zoom(0.5),
        0: () => this.reset(), Escape: () => { this.reset(); this.hide(); },
      }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    }

    choose(row, spot) {
      row %= this.series.length;
      const points = this.series[row].points;
      spot = Math.max(0, Math.min(points.length - 1, spot));
      this.show(row, spot);
    }

    place(event) {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
      return [Math.max(this.left, Math.min(this.left + this.width, point.x)), Math.max(this.top, Math.min(this.top + this.height, point.y))];
    }

    stretch(event) {
      const [x, y] = this.place(event), [fromX, fromY] = this.drag;
      const area = { x: Math.min(x, fromX), y: Math.min(y, fromY), width: Math.abs(x - fromX), height: Math.abs(y - fromY), visibility: "visible" };
      for (const key in area) this.frame.setAttribute(key, area[key]);
      this.hide();
    }

    drop(event) {
      if (!this.drag) return;
      const [x, y] = this.place(event), [fromX, fromY] = this.drag;
      this.drag = null;
      this.frame.setAttribute("visibility", "hidden");
      if (Math.abs(x - fromX) < LEAST && Math.abs(y - fromY) < LEAST) return;
      const wide = Math.abs(x - fromX) >= LEAST, tall = Math.abs(y - fromY) >= LEAST;
      const [[x0, x1], [y0, y1]] = [[x, fromX], [y, fromY]].map((pair) => pair.sort((a, b) => a - b));
      const shares = [(x0 - this.left) / this.width, (x1 - this.left) / this.width, 1 - (y1 - this.top) / this.height, 1 - (y0 - this.top) / this.height];
      const [a, b, c, d] = this.view;
      this.look([wide ? a + shares[0] * (b - a) : a, wide ? a + shares[1] * (b - a) : b, tall ? c + shares[2] * (d - c) : c, tall ? c + shares[3] * (d - c) : d]);
    }

    // Around the chosen point, if there is one, else around the middle.
    zoom(factor) {
      const [a, b, c, d] = this.view;
      const point = this.shown && this.series[this.at[0]].points[this.at[1]];
      const across = point ? (point[0] - this.left) / this.width : (a + b) / 2;
      const up = point ? 1 - (point[1] - this.top) / this.height : (c + d) / 2;
      if (factor > 1 && 1 / (b - a) > MOST_ZOOM) return;
      const ends = (low, high, middle) => {
        const half = Math.min(1, (high - low) / factor) / 2;
        const centre = Math.max(half, Math.min(1 - half, middle));
        return [centre - half, centre + half];
      };
      this.look([...ends(a, b, across), ...ends(c, d, up)]);
    }

    reset() { this.look([0, 1, 0, 1]); }

    look(view) {
      this.view = view;
      const [a, b, c, d] = view, whole = b - a > 0.999 && d - c > 0.999;
      this.svg.classList.toggle("zoomed", !whole);
      const sx = 1 / (b - a), sy = 1 / (d - c);
      const ex = this.left * (1 - sx) - a * sx * this.width;
      const ey = (this.top + this.height) * (1 - sy) + c * sy * this.height;
      this.to = ([x, y]) => [sx * x + ex, sy * y + ey];
      for (const [node, x, y] of this.moving) {
        if (x === undefined) node.setAttribute("transform", whole ? "" : `matrix(${sx} 0 0 ${sy} ${ex} ${ey})`);
        else node.setAttribute("transform", `translate(${sx * x + ex - x} ${sy * y + ey - y})`);
      }
      for (const [node, own, x, y, beside] of this.texts) {
        const [toX, toY] = this.to([x, y]);
        node.setAttribute("transform", `translate(${beside ? 0 : toX - x} ${toY - y}) ${own}`);
        const out = toY < this.top || toY > this.top + this.height || (!beside && (toX < this.left || toX > this.left + this.width));
        node.setAttribute("visibility", out && !whole ? "hidden" : "visible");
      }
      this.relabel(whole);
      if (this.shown) this.show(...this.at);
    }

    value(axis, share) {
      return axis.log ? axis.low * (axis.high / axis.low) ** share : axis.low + share * (axis.high - axis.low);
    }

    share(axis, value) {
      return axis.log ? Math.log(value / axis.low) / Math.log(axis.high / axis.low) : (value - axis.low) / (axis.high - axis.low);
    }

    // The axes' own ticks are hidden while zoomed.
    relabel(whole) {
      this.live.replaceChildren();
      if (whole) return;
      const bottom = this.top + this.height, [a, b, c, d] = this.view;
      for (const value of ticks(this.value(this.x, a), this.value(this.x, b), this.x.log, this.x.unit)) {
        const x = this.left + (this.share(this.x, value) - a) / (b - a) * this.width;
        make("line", { x1: x, x2: x, y1: this.top, y2: bottom }, this.live);
        make("text", { x, y: bottom + 11, "text-anchor": "middle" }, this.live).textContent = written(value, this.x.unit);
      }
      for (const value of ticks(this.value(this.y, c), this.value(this.y, d), this.y.log, this.y.unit)) {
        const y = bottom - (this.share(this.y, value) - c) / (d - c) * this.height;
        make("line", { x1: this.left, x2: this.left + this.width, y1: y, y2: y }, this.live);
        make("text", { x: this.left - 5, y: y + 3, "text-anchor": "end" }, this.live).textContent = written(value, this.y.unit);
      }
    }

    point(event) {
      const matrix = this.svg.getScreenCTM();
      let best = null, near = REACH ** 2;
      this.series.forEach((each, row) => each.points.forEach((point, spot) => {
        const [x, y] = this.to(point);
        if (x < this.left - 1 || x > this.left + this.width + 1 || y < this.top - 1 || y > this.top + this.height + 1) return;
        const away = (matrix.a * x + matrix.e - event.clientX) ** 2 + (matrix.d * y + matrix.f - event.clientY) ** 2;
        if (away < near) [near, best] = [away, [row, spot]];
      }));
      if (best) this.show(...best); else this.hide();
    }

    show(row, spot) {
      const { name, points } = this.series[row], point = points[spot];
      const [x, y] = this.to(point), matrix = this.svg.getScreenCTM();
      this.at = [row, spot];
      this.shown = true;
      this.ring.setAttribute("cx", x);
      this.ring.setAttribute("cy", y);
      this.ring.setAttribute("visibility", "visible");
      const across = `${this.x.label || "x"} ${written(point[2], this.x.unit)}`;
      tip.textContent = "";
      const strong = document.createElement("strong");
      strong.textContent = written(point[3], this.y.unit);
      tip.append(strong, ` ${name}`, document.createElement("br"), across);
      tip.classList.add("on");
      const left = matrix.a * x + matrix.e, top = matrix.d * y + matrix.f;
      tip.style.left = `${Math.max(8, Math.min(innerWidth - tip.offsetWidth - 8, left - tip.offsetWidth / 2))}px`;
      tip.style.top = `${top - tip.offsetHeight - 12 > 0 ? top - tip.offsetHeight - 12 : top + 14}px`;
    }

    hide() {
      this.shown = false;
      this.ring.setAttribute("visibility", "hidden");
      tip.classList.remove("on");
    }
  }

  for (const svg of document.querySelectorAll("svg[data-plot]")) new Plot(svg);
  for (const hint of document.querySelectorAll(".hint")) hint.hidden = false;
  for (const button of document.querySelectorAll("button[data-copies]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copies);
      getSelection().selectAllChildren(source);
      try { await navigator.clipboard.writeText(source.textContent); }
      catch { document.execCommand("copy"); }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
})();
