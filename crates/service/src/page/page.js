"use strict";
// Everything that is shown is put in place as text, never as markup.
const at = id => document.getElementById(id);
const make = (tag, text, attributes = {}) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};
const shape = (tag, attributes, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
};
const number = value => {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(1).replaceAll("-", "\u2212");
  if (Math.abs(value) >= 999.5) return Math.round(value).toLocaleString("en").replace("-", "\u2212");
  // Three digits, zeros too, so that a column is even; but a whole number is whole.
  return (Number.isInteger(value) ? String(value) : value.toPrecision(3)).replace("-", "\u2212");
};
/// On an axis zeros at the end say nothing.
const short = value => number(value).replace(/\.0+$|(?<=\.\d*[1-9])0+$/, "");
/// A number with its error, to two digits of that.
const withError = (value, error) => {
  const digits = 1 - Math.floor(Math.log10(error));
  if (!(digits >= 0 && digits <= 6)) return `${number(value)} ± ${number(error)}`;
  // What rounds to 0 has no sign.
  return `${(Number(value.toFixed(digits)) || 0).toFixed(digits).replace("-", "\u2212")} ± ${error.toFixed(digits)}`;
};
const count = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;
/// Nodes of a text in which code stands between backticks.
const coded = text => text.split(/`([^`]+)`/).map((part, place) => place % 2 ? make("code", part) : part);
const write = (tag, text, attributes) => {
  const element = make(tag, undefined, attributes);
  element.append(...coded(text));
  return element;
};
const put = (id, text) => at(id).replaceChildren(...coded(text));
/// What the service says of a call, as a sentence.
const sentence = text => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");

let token = sessionStorage.getItem("token") || "";
let current = decodeURIComponent(location.hash.slice(1));
let example = "";
let audited = "";
let redraw = () => {};

async function call(path, options = {}) {
  const headers = { ...options.headers };
  if (token) headers.authorization = "Bearer " + token;
  const answer = await fetch(path, { ...options, headers });
  if (answer.status === 401) {
    at("access").hidden = false;
    throw new Error("The service does not accept this token.");
  }
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(sentence(body.error ? body.error.message : `the service answered with ${answer.status}`));
  return body;
}
const path = what => `v1/bandits/${encodeURIComponent(current)}${what}`;

/// Draws lines over time. A line is a class and a value, or none, for each point.
function draw(svg, points, lines, fromZero) {
  const width = svg.clientWidth || 300, height = svg.clientHeight || 150, bottom = 20, top = 8;
  const values = lines.flatMap(line => line.values).filter(value => value !== null && value !== undefined);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  if (!values.length) return;
  let low = Math.min(...values), high = Math.max(...values);
  if (fromZero) low = Math.min(0, low);
  if (high - low < 1e-12) { high += Math.abs(high) / 2 || 1; if (!fromZero) low -= Math.abs(low) / 2 || 1; }
  // Round numbers: steps of 1, 2 or 5 times a power of ten, about three of them.
  const rough = (high - low) / 3, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough * 0.99);
  low = step * Math.floor(low / step + 1e-9);
  high = step * Math.ceil(high / step - 1e-9);
  const levels = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, place) => low + place * step);
  // Wide enough for the longest label.
  const left = Math.max(44, 14 + 7.5 * Math.max(...levels.map(level => short(level).length)));
  const x = place => left + (width - left - 6) * (points.length < 2 ? 1 : place / (points.length - 1));
  const y = value => top + (height - top - bottom) * (high - value) / (high - low);
  for (const level of levels) {
    svg.append(shape("line", { class: "grid", x1: left, x2: width - 6, y1: y(level), y2: y(level) }));
    svg.append(shape("text", { x: left - 6, y: y(level) + 4, "text-anchor": "end" }, short(level)));
  }
  const clock = point => new Date(point.time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  svg.append(shape("text", { x: left, y: height - 4 }, clock(points[0])));
  svg.append(shape("text", { x: width - 6, y: height - 4, "text-anchor": "end" }, clock(points.at(-1))));
  for (const line of lines) {
    let steps = "", pen = false;
    line.values.forEach((value, place) => {
      if (value === null || value === undefined) { pen = false; return; }
      steps += `${pen ? "L" : "M"}${x(place).toFixed(1)} ${y(value).toFixed(1)}`;
      // A point without neighbours has no line to see.
      const next = line.values[place + 1];
      if (!pen && (next === null || next === undefined)) svg.append(shape("circle", { class: line.kind, cx: x(place), cy: y(value), r: 3 }));
      pen = true;
    });
    svg.append(shape("path", { class: line.kind, d: steps, "stroke-linecap": "round" }));
  }
}

function says(id, svg, parts) {
  const box = at(id), words = parts.map(([, text]) => text).join("; ") + ".";
  box.replaceChildren();
  parts.forEach(([kind, text], place) => {
    if (kind) box.append(make("span", undefined, { class: kind, "aria-hidden": "true" }));
    box.append(text + (place + 1 < parts.length ? "; " : "."));
  });
  svg.setAttribute("aria-label", words);
}

/// What there is none of: ever, or since the charts began with the service.
const none = (what, ever) => `no ${what} ${ever > 0 ? "since the service was started" : "yet"}`;

function showPast(past, bandit) {
  const points = past.points, each = key => points.map(point => point[key]);
  const rate = key => points.map(point => point[key] / Math.max(1, point.seconds));
  redraw = () => {
    draw(at("rates"), points, [{ kind: "one", values: rate("decisions") }, { kind: "two", values: rate("rewards") }], true);
    draw(at("means"), points, [{ kind: "one", values: each("mean_reward") }, { kind: "two", values: each("predicted") }], false);
    draw(at("waits"), points, [{ kind: "one", values: each("p99_ms") }], true);
  };
  redraw();
  const last = key => number(rate(key).at(-1));
  const now = [["key", `now ${last("decisions")} decisions a second`], ["key dashed", `${last("rewards")} rewards`]];
  says("rates-says", at("rates"), points.length ? now : [["", none("decision", bandit.decisions)]]);
  const mean = past.mean_reward === null ? ["", none("reward", bandit.rewards)] : ["key", `${number(past.mean_reward)} on average`];
  const predicted = past.predicted === null ? [] : [["key dashed", `${number(past.predicted)} predicted by the logs`]];
  if (predicted.length && past.mean_reward !== null) predicted.push(["", past.mean_reward >= past.predicted ? "no worse than the logs said" : "less than the logs said"]);
  says("means-says", at("means"), [mean, ...predicted]);
  says("waits-says", at("waits"), [past.p50_ms === null ? ["", none("decision", bandit.decisions)] : ["key", `half within ${number(past.p50_ms)} ms, 99 in 100 within ${number(past.p99_ms)} ms, the disk included`]]);
  at("since").textContent = points.length ? `Since the service was started or first asked; a point is ${count(past.step_s, "second", "seconds")}.` : "Nothing was asked since the service was started.";
  // What was really asked is the best example to try, but not where somebody is reading or writing.
  const used = document.activeElement === at("asked") || at("answer").hasChildNodes();
  if (past.example && !used && at("asked").value === example) setExample(past.example);
}

/// An action a line.
function setExample({ actions, ...rest }) {
  const first = Object.entries(rest).map(([key, value]) => ` ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`).join("");
  example = `{\n${first} "actions": [\n  ${actions.map(action => JSON.stringify(action)).join(",\n  ")}\n ]\n}`;
  at("asked").value = example;
}

function show(bandit) {
  at("bandit").hidden = false;
  at("name").textContent = bandit.name;
  put("sentence", bandit.sentence);
  at("moved").hidden = !bandit.moved_sentence;
  put("moved", bandit.moved_sentence || "");
  at("conflicts").hidden = !bandit.conflicts_sentence;
  put("conflicts", bandit.conflicts_sentence || "");
  at("waiting").hidden = !bandit.waiting_sentence;
  put("waiting", bandit.waiting_sentence || "");
  at("warnings").replaceChildren(...bandit.warnings.map(text => write("li", text)));
  const unknown = bandit.unknown_fields, named = unknown.slice(0, 5).map(field => `${field.name} (${count(field.count, "time", "times")})`);
  at("unknown").hidden = !unknown.length;
  at("unknown").textContent = `Fields that came and that the model has no use for: ${named.join(", ")}${unknown.length > 5 ? ` and ${unknown.length - 5} more` : ""}.`;
  const logged = bandit.logged_rows > 0;
  at("means-title").textContent = logged ? "Mean reward, and the logs' prediction" : "Mean reward";
  at("features-title").textContent = logged ? "Reliance on the logs, by feature" : "What is known of each feature";
  at("known").className = logged ? "" : "unlogged";
  const facts = [
    ["decisions", number(bandit.decisions)], ["rewards", number(bandit.rewards)], ["mean reward", number(bandit.mean_reward)],
    ["waiting for a reward", number(bandit.open)], ...(logged ? [["decided with the logs", bandit.decisions ? number(100 * bandit.pooled_share) + " %" : "–"]] : []),
    ...(logged ? [["logs contradicted live data", bandit.conflicts ? count(bandit.conflicts, "time", "times") : "never"]] : []), ["mode", bandit.mode], ["policy", bandit.policy],
  ];
  at("numbers").replaceChildren(...facts.map(([name, value]) => {
    const box = make("div");
    box.append(make("dt", name), make("dd", value));
    return box;
  }));
  const features = [...bandit.features].sort((a, b) => Math.abs(b.estimate) - Math.abs(a.estimate));
  // What is left of a sum that is 0 is no estimate.
  const least = 1e-12 * Math.abs(features[0]?.estimate || 0);
  at("features").replaceChildren(...features.slice(0, 100).map(view => featureRow(view, least)));
  at("more").textContent = (features.length > 100 ? `The 100 largest of ${features.length} features. ` : "") + "A coefficient is the reward that one unit of the feature adds. " + (logged ? "Reliance is how much the logs count for a feature; it is less than the probability that they hold, as every coefficient may have moved. ± is one standard error. “Differs from the logs” is for one feature by itself, at 90 %: about one in ten that hold is marked by chance. " : "") + `Model: ${bandit.model}`;
  if (!example) setExample(bandit.example);
}

/// The cell that names a row. Names of products break between features.
function nameCell(text) {
  const cell = make("td"), name = make("span", undefined, { class: "name" });
  for (const part of text.split(/(?<=:)/)) name.append(part, make("wbr"));
  cell.append(name);
  return cell;
}

function featureRow(view, least) {
  const row = make("tr"), trust = make("td"), percent = `${Math.round(100 * view.trust)} %`;
  if (view.coverage > 0) trust.append(make("meter", percent, { min: 0, max: 1, value: view.trust, "aria-hidden": "true" }), ` ${percent}`);
  else trust.append("not in the logs");
  const clear = view.drift !== null && view.stderr > 0 && Math.abs(view.drift) > 1.645 * view.stderr; // at 90 %, as in every picture of a policy
  const drift = view.drift === null || view.coverage <= 0 ? "–" : `${withError(view.drift, view.stderr)}${clear ? ", differs from the logs" : ""}`;
  row.append(nameCell(view.name), trust, make("td", number(Math.abs(view.estimate) < least ? 0 : view.estimate)), make("td", drift, clear ? { class: "warn" } : {}), make("td", number(view.coverage)));
  return row;
}

function showExplained(found) {
  const shifted = found.actions.map(action => ({ ...action, from: action.lcb + found.level, to: action.ucb + found.level, middle: action.mean + found.level }));
  const low = Math.min(...shifted.map(action => action.from)), high = Math.max(...shifted.map(action => action.to));
  const x = value => 4 + 92 * (value - low) / Math.max(1e-12, high - low);
  // What was long left alone counts for more than its interval says, where that is what decides.
  const counted = found.counted ? ["counted as"] : [];
  const table = make("table", undefined, { "aria-label": "Intervals of the actions" }), head = make("tr");
  head.append(...["action", "interval", "expected reward", "from", "to", ...counted, "upper end set by"].map(text => make("th", text, { scope: "col" })));
  table.append(head, ...shifted.map(action => {
    const played = action.id === found.action, row = make("tr", undefined, played ? { class: "played" } : {});
    const interval = make("td"), picture = shape("svg", { viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" });
    picture.append(shape("path", { class: "one", d: `M${x(action.from)} 6H${x(action.to)}M${x(action.from)} 2V10M${x(action.to)} 2V10` }), shape("rect", { class: "dot", x: x(action.middle) - 1.5, y: 2, width: 3, height: 8 }));
    interval.append(picture);
    const by = ({ online: "live data", offline: "logs" }[action.branch] || "logs and live data") + (action.conflict ? ", in conflict" : "");
    row.append(nameCell(action.id + (played ? " (would be played)" : "")), interval, make("td", number(action.middle)), make("td", number(action.from)), make("td", number(action.to)), ...counted.map(() => make("td", number(action.index + found.level))), make("td", by));
    return row;
  }));
  at("answer").replaceChildren(write("p", found.why), scrolled(table), everything(found));
}

/// A table that scrolls by itself where it is too wide.
function scrolled(table) {
  const box = make("div", undefined, { class: "wide", tabindex: "0", role: "region", "aria-label": table.getAttribute("aria-label") });
  box.append(table);
  return box;
}

/// What was looked at: each action by live data alone and with the logs, in each layer of a policy that has several.
function everything(found) {
  const all = make("details"), layers = found.story.layers, id = place => found.actions[place].id;
  // Else the table above has it all.
  if (layers.length === 1 && !layers[0].actions.some(action => action.online && action.informed)) return "";
  const part = known => known ? `${number(known.mean + found.level)} ± ${number(known.statistical)}${known.bias ? " ± " + number(known.bias) : ""}` : "–";
  all.append(make("summary", "All that was looked at"));
  layers.forEach((layer, place) => {
    const title = layers.length > 1 ? `Layer ${place + 1} of ${layers.length}` : "What is known of the actions";
    const table = make("table", undefined, { "aria-label": title }), head = make("tr");
    head.append(...["action", "live data alone", "with the logs"].map(text => make("th", text, { scope: "col" })));
    table.append(head, ...layer.actions.map(action => {
      const row = make("tr");
      row.append(nameCell(id(action.action)), make("td", part(action.online)), make("td", part(action.informed)));
      return row;
    }));
    if (layers.length > 1) all.append(make("p", title));
    all.append(scrolled(table));
    if (layer.eliminated.length) all.append(make("p", `Left out from here on: ${layer.eliminated.map(id).join(", ")}.`));
  });
  all.append(make("small", "The first ± is for chance, and shrinks with data; a second one is for how far the logs may have drifted."));
  return all;
}

/// What the logs were worth before anything was live; it stays the same, and is asked for once.
async function showAudit(bandit) {
  if (audited === bandit.name) return;
  audited = bandit.name;
  at("audit").hidden = true;
  const { model, features, dimension } = bandit.settings;
  if (model || features || dimension) return;
  const audit = await call(path("/audit"));
  at("audit").hidden = !audit.rows;
  const { unbiased, under_stated_drift: drifted, stated_drift: drift } = audit.worth;
  at("audit").textContent = `Before anything was live, the logs' ${count(audit.rows, "row was", "rows were")} worth about ${count(Math.round(drifted), "live round", "live rounds")} if the coefficients had moved by ${number(drift)} in all, or ${number(Math.round(unbiased))} if nothing had drifted.`;
}

let timer = 0;
async function tick() {
  clearTimeout(timer);
  const begun = performance.now();
  if (document.documentElement.dataset.token === "yes" && !token) {
    at("access").hidden = false;
    at("state").textContent = "This service asks for a token.";
    return;
  }
  if (!document.hidden) {
    try {
      const { bandits } = await call("v1/bandits");
      at("access").hidden = true;
      at("choice").hidden = !bandits.length;
      if (!bandits.length) {
        put("state", "There is no bandit yet. Start the service with `--bandit NAME=logs.tn`, or PUT one to `/v1/bandits/NAME`.");
      } else {
        if (!bandits.includes(current)) current = bandits[0];
        const known = [...at("bandits").options].map(option => option.value);
        if (known.join("\n") !== bandits.join("\n")) at("bandits").replaceChildren(...bandits.map(name => new Option(name, name)));
        at("bandits").value = current;
        const [report, past] = await Promise.all([call(path("/report")), call(path("/history"))]);
        show(report);
        await showAudit(report);
        showPast(past, report);
        at("state").textContent = "";
      }
    } catch (error) {
      put("state", error instanceof TypeError ? "The service does not answer." : error.message);
    }
  }
  // What is known of many features takes a while; the page is no load.
  timer = setTimeout(tick, Math.max(2000, 5 * (performance.now() - begun)));
}

at("access").addEventListener("submit", event => {
  event.preventDefault();
  token = at("token").value;
  at("token").value = "";
  sessionStorage.setItem("token", token);
  tick();
});
at("bandits").addEventListener("change", () => { location.hash = encodeURIComponent(at("bandits").value); });
// Also by a link, and by going back.
addEventListener("hashchange", () => {
  current = decodeURIComponent(location.hash.slice(1));
  example = "";
  at("asked").value = "";
  at("answer").replaceChildren();
  tick();
});
at("try").addEventListener("submit", async event => {
  event.preventDefault();
  try {
    const headers = { "content-type": "application/json" };
    showExplained(await call(path("/explain"), { method: "POST", headers, body: at("asked").value }));
  } catch (error) {
    at("answer").replaceChildren(write("p", error.message, { class: "warn" }));
  }
});
// A chart that is drawn for another width is scaled, and its labels with it.
addEventListener("resize", () => redraw());
document.addEventListener("visibilitychange", () => { if (!document.hidden) tick(); });
tick();
