// The folded parts of the home page: their forms are answered in place. Everything is set as text.
'use strict';
(() => {
  const { sluice } = window;
  const ROWS_MAX = 100;
  const STATS_MAX = 40;
  const POINTS_MAX = 60;

  const element = (name, properties, ...children) => {
    const made = document.createElement(name);
    Object.assign(made, properties);
    made.append(...children);
    return made;
  };

  const table = (label, heads, rows) => {
    const cells = (kind, values) =>
      element('tr', {}, ...values.map((value) => element(kind, {}, value ?? '')));
    const head = cells('th', heads);
    for (const cell of head.children) cell.scope = 'col';
    const box = element('div', { className: 'scroll', tabIndex: 0, role: 'group' });
    box.ariaLabel = label;
    const body = element('tbody', {}, ...rows.map((row) => cells('td', row)));
    box.append(element('table', {}, element('thead', {}, head), body));
    return box;
  };

  const note = (text) => element('p', {}, text);
  const query = (form) => {
    const given = [...new FormData(form)].filter(([, value]) => value !== '');
    return new URLSearchParams(given);
  };
  const ask = async (path, values) => {
    const response = await fetch(`${path}?${values}`, { cache: 'no-store' });
    return { ok: response.ok, text: await response.text() };
  };
  const askJson = async (path, values) => {
    const { ok, text } = await ask(path, values);
    if (!ok) throw new Error(text.trim());
    return JSON.parse(text);
  };

  const open = (name, values) => {
    const view = document.getElementById(`view-${name}`);
    for (const [field, value] of Object.entries(values)) {
      const input = document.getElementById(`in-${name}-${field}`);
      if (input) input.value = value;
    }
    if (view.open) void show(view);
    else view.open = true;
    view.querySelector('summary').focus();
    view.scrollIntoView();
  };

  const readExplain = async (form) => {
    const { text } = await ask('explain', query(form));
    return [element('pre', { tabIndex: 0 }, text)];
  };

  const matchText = (match = {}) => {
    const names = ['path', 'prefix', 'path_separated_prefix'];
    const plain = names.find((name) => match[name] !== undefined);
    if (plain !== undefined) return `${plain} ${match[plain]}`;
    return match.safe_regex === undefined
      ? JSON.stringify(match)
      : `regex ${match.safe_regex.regex}`;
  };
  const actionText = ({ route, redirect, direct_response: direct }) => {
    if (route !== undefined) {
      const weighted = route.weighted_clusters?.clusters.map(
        ({ name, weight }) => `${name} ${weight}`,
      );
      return `cluster ${route.cluster ?? weighted?.join(', ') ?? `from ${route.cluster_header}`}`;
    }
    if (redirect !== undefined) return 'redirect';
    return direct === undefined ? 'other' : `answer ${direct.status}`;
  };
  const exampleUrl = (domains = [], match = {}) => {
    const domain = (domains[0] ?? '*').replace(/^\*$/, 'localhost').replaceAll('*', 'any');
    return `http://${domain}${match.path ?? match.prefix ?? match.path_separated_prefix ?? '/'}`;
  };

  const readRoutes = async (form) => {
    const rows = [];
    for (const resource of ['static_route_configs', 'dynamic_route_configs']) {
      const values = query(form);
      values.set('resource', resource);
      values.set('limit', String(ROWS_MAX));
      const { ok, text } = await ask('config_dump', values);
      const { configs = [] } = ok ? JSON.parse(text) : {};
      for (const { route_config: config = {} } of configs) {
        for (const host of config.virtual_hosts ?? []) {
          for (const route of host.routes ?? []) {
            if (rows.length === ROWS_MAX) break;
            const url = exampleUrl(host.domains, route.match);
            const explain = element('button', { className: 'post' }, 'Explain');
            explain.addEventListener('click', () => open('explain', { url }));
            const domains = (host.domains ?? []).join(', ');
            const to = actionText(route);
            rows.push([config.name, host.name, domains, matchText(route.match), to, explain]);
          }
        }
      }
    }
    if (rows.length === 0) return [note('No routes.')];
    const heads = ['Table', 'Virtual host', 'Domains', 'Match', 'Goes to', 'Ask'];
    const more = rows.length === ROWS_MAX ? [note(`The first ${ROWS_MAX}: narrow the name.`)] : [];
    return [table('Routes', heads, rows), ...more];
  };

  const closeButton = (id) => {
    const button = element('button', { className: 'post', ariaLabel: `Close ${id}` }, 'Close');
    button.addEventListener('click', () => {
      if (!window.confirm(`Ask the client of connection ${id} to go?`)) return;
      sluice.send('connections/close', { id }).then(
        ({ text }) => sluice.say(text),
        () => sluice.say('no answer'),
      );
    });
    return button;
  };

  const readConnections = async (form) => {
    const values = query(form);
    values.set('format', 'json');
    values.set('limit', String(ROWS_MAX));
    const { connections, truncated } = await askJson('connections', values);
    const rows = connections.map((each) => [
      each.client,
      each.listener,
      each.protocol,
      each.cluster,
      each.host,
      `${Math.round(each.age_ms / 1000)} s`,
      String(each.bytes_received),
      String(each.bytes_sent),
      String(each.streams),
      ...(sluice.isReadOnly ? [] : [closeButton(each.id)]),
    ]);
    if (rows.length === 0) return [note('No connections.')];
    const heads = ['Client', 'Listener', 'Protocol', 'Cluster', 'Host', 'Age', 'Received', 'Sent'];
    heads.push('Streams', ...(sluice.isReadOnly ? [] : ['Close']));
    const more = truncated ? [note(`The first ${ROWS_MAX}.`)] : [];
    return [table('Connections', heads, rows), ...more];
  };

  const readHistory = async (form) => {
    const values = query(form);
    values.set('format', 'json');
    values.set('limit', String(ROWS_MAX));
    const { changes } = await askJson('config_history', values);
    if (changes.length === 0) return [note('Nothing has changed since the start.')];
    return changes.map(({ id, time, change, kind, name, version = '', reason = '', diff }) => {
      const line = [id, time, change, kind, name, version, reason].filter((each) => each !== '');
      const summary = element('summary', {}, line.join(' '));
      const text = diff.length === 0 ? 'no difference' : diff.join('\n');
      return element('details', {}, summary, element('pre', { tabIndex: 0 }, text));
    });
  };

  const SVG = 'http://www.w3.org/2000/svg';
  const series = new Map();
  const sparkline = (name, values) => {
    const least = Math.min(...values);
    const span = Math.max(1e-9, Math.max(...values) - least);
    const points = values.map((value, index) => {
      const x = 120 - ((values.length - 1 - index) * 120) / (POINTS_MAX - 1);
      return `${x.toFixed(1)},${(22 - ((value - least) / span) * 20).toFixed(1)}`;
    });
    const svg = document.createElementNS(SVG, 'svg');
    const view = { viewBox: '0 0 120 24', role: 'img', 'aria-label': `${name}, two minutes` };
    for (const [key, value] of Object.entries(view)) svg.setAttribute(key, value);
    const line = document.createElementNS(SVG, 'polyline');
    line.setAttribute('points', points.join(' '));
    svg.append(line);
    return svg;
  };

  const readStats = async (form) => {
    const values = query(form);
    values.set('format', 'json');
    const { stats = [] } = await askJson('stats', values);
    const plain = stats.filter(({ name }) => name !== undefined);
    const shown = plain.slice(0, STATS_MAX);
    for (const name of series.keys()) {
      if (!shown.some((stat) => stat.name === name)) series.delete(name);
    }
    const rows = shown.map(({ name, value }) => {
      const kept = [...(series.get(name) ?? []), Number(value)].slice(-POINTS_MAX);
      series.set(name, kept);
      const gain = kept.length < 2 ? 0 : kept.at(-1) - kept.at(-2);
      return [
        name,
        String(value),
        gain === 0 ? '' : `${gain > 0 ? '+' : ''}${gain}`,
        sparkline(name, kept),
      ];
    });
    if (rows.length === 0) return [note('No such statistic.')];
    const more =
      plain.length > STATS_MAX ? [note(`${STATS_MAX} of ${plain.length}: narrow it.`)] : [];
    return [table('Statistics', ['Name', 'Value', 'Gain', 'Since it is shown'], rows), ...more];
  };

  const readLogging = async (form, isSent) => {
    if (sluice.isReadOnly) return [note('Levels are read with POST, which is refused here.')];
    const { text } = await sluice.send('logging', isSent ? query(form) : {});
    return [element('pre', { tabIndex: 0 }, text)];
  };

  const readRuntime = async () => {
    const { entries } = await askJson('runtime', '');
    const rows = Object.entries(entries)
      .slice(0, ROWS_MAX)
      .map(([key, { final_value: value, layer_values: layers }]) => [
        key,
        value,
        layers.join(' → '),
      ]);
    if (rows.length === 0) return [note('No layer has a value.')];
    return [table('Runtime values', ['Key', 'Value', 'By layer'], rows)];
  };

  const READERS = {
    explain: { read: readExplain },
    routes: { read: readRoutes },
    connections: { read: readConnections, isLive: true },
    history: { read: readHistory },
    stats: { read: readStats, isLive: true },
    logging: { read: readLogging },
    runtime: { read: readRuntime },
  };

  // An answer that was overtaken is not shown.
  const asked = new Map();
  const show = async (view, isSent = false) => {
    const out = view.querySelector('.out');
    const turn = {};
    asked.set(view, turn);
    let content;
    try {
      content = await READERS[view.dataset.view].read(view.querySelector('form'), isSent);
    } catch (error) {
      content = [note(error.message || 'no answer')];
    }
    if (asked.get(view) !== turn || out.contains(document.activeElement)) return;
    out.replaceChildren(...content);
  };

  for (const view of document.querySelectorAll('details[data-view]')) {
    const { isLive } = READERS[view.dataset.view];
    view.addEventListener('toggle', () => {
      if (!view.open) sluice.live.delete(view);
      else {
        if (isLive) sluice.live.set(view, () => show(view));
        void show(view);
      }
    });
    view.querySelector('form').addEventListener('submit', (event) => {
      event.preventDefault();
      void show(view, true);
    });
  }

  const runtime = document.querySelector('form[data-runtime]');
  if (runtime) {
    runtime.hidden = false;
    runtime.addEventListener('submit', (event) => {
      event.preventDefault();
      const { key, value } = Object.fromEntries(new FormData(runtime));
      sluice.send('runtime_modify', { [key]: value }).then(
        ({ text }) => {
          sluice.say([key, text].join(': '));
          return show(runtime.closest('details'));
        },
        () => sluice.say('no answer'),
      );
    });
  }

  document.addEventListener('click', (event) => {
    const target = event.target.closest?.('a.explain');
    if (!target) return;
    event.preventDefault();
    open('explain', { url: new URL(target.href).searchParams.get('url') });
  });
})();
