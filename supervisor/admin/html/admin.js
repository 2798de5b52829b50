// Keeps the admin home page fresh: reloads its overview, draws traffic, filters rows, asks before
// destructive commands. Everything it shows is set as text, never as HTML of its own making.
'use strict';
(() => {
  const PERIOD_MS = 2000;
  const POINTS_MAX = 60;
  const series = new Map();
  let previous;

  const search = document.getElementById('search');
  const applySearch = () => {
    const wanted = search.value.trim().toLowerCase();
    for (const row of document.querySelectorAll('tbody.command, tr.row')) {
      row.hidden = wanted !== '' && !row.textContent.toLowerCase().includes(wanted);
    }
  };
  search.addEventListener('input', applySearch);
  search.hidden = false;

  for (const form of document.querySelectorAll('form[data-confirm]')) {
    form.addEventListener('submit', (event) => {
      if (!window.confirm(`Send ${form.id}?`)) event.preventDefault();
    });
  }

  const SVG = 'http://www.w3.org/2000/svg';
  const make = (name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  const chart = (title, shape, ends) => {
    const box = document.createElement('div');
    box.className = 'chart';
    const caption = document.createElement('div');
    caption.textContent = title;
    const view = { viewBox: '0 0 260 60', preserveAspectRatio: 'none' };
    const svg = make('svg', { ...view, role: 'img', 'aria-label': title });
    for (const element of shape) svg.append(element);
    const scale = document.createElement('small');
    for (const end of ends) {
      const text = document.createElement('span');
      text.textContent = end;
      scale.append(text);
    }
    box.append(caption, svg, scale);
    return box;
  };

  const timeline = (title, values) => {
    const most = Math.max(...values);
    const seconds = ((POINTS_MAX - 1) * PERIOD_MS) / 1000;
    return chart(title, line(values), [`${seconds} s ago`, `max ${Number(most.toFixed(1))}`]);
  };

  const line = (values) => {
    const top = Math.max(1e-9, ...values);
    const points = values.map(
      (value, index) =>
        `${260 - ((values.length - 1 - index) * 260) / (POINTS_MAX - 1)},${58 - (value / top) * 54}`,
    );
    return [make('polyline', { points: points.join(' ') })];
  };

  const bars = (buckets) => {
    const top = Math.max(1, ...buckets.map((bucket) => bucket.count));
    const width = 260 / Math.max(1, buckets.length);
    return buckets.map((bucket, index) => {
      const height = (bucket.count / top) * 54;
      const bar = make('rect', {
        x: index * width,
        y: 58 - height,
        width: Math.max(1, width - 1),
        height,
      });
      const label = make('title', {});
      label.textContent = `up to ${bucket.bound} ms: ${bucket.count}`;
      bar.append(label);
      return bar;
    });
  };

  const push = (name, value) => {
    const values = series.get(name) ?? [];
    values.push(value);
    if (values.length > POINTS_MAX) values.shift();
    series.set(name, values);
    return values;
  };

  const readJson = async (path) => {
    const response = await fetch(path, { cache: 'no-store' });
    return response.ok ? await response.json() : undefined;
  };

  const sum = (stats, pattern) =>
    stats.reduce(
      (total, stat) => (pattern.test(stat.name) ? total + Number(stat.value) : total),
      0,
    );

  const readTraffic = async () => {
    const stats =
      (
        await readJson(
          `stats?format=json&filter=${encodeURIComponent('^http\\..*\\.downstream_(rq_(total|5xx)|cx_active)$')}`,
        )
      )?.stats ?? [];
    const own = stats.filter((stat) => stat.name && !stat.name.startsWith('http.admin.'));
    const now = {
      atMs: performance.now(),
      requests: sum(own, /rq_total$/),
      errors: sum(own, /rq_5xx$/),
      connections: sum(own, /cx_active$/),
    };
    const charts = [];
    if (previous !== undefined) {
      const seconds = (now.atMs - previous.atMs) / 1000;
      const rate = Math.max(0, (now.requests - previous.requests) / seconds);
      const errors = Math.max(0, (now.errors - previous.errors) / seconds);
      charts.push(timeline(`Requests: ${rate.toFixed(1)}/s`, push('rate', rate)));
      charts.push(timeline(`5xx: ${errors.toFixed(1)}/s`, push('errors', errors)));
    }
    const connections = push('connections', now.connections);
    charts.push(timeline(`Connections: ${now.connections}`, connections));
    previous = now;
    const latency = await readLatency();
    if (latency !== undefined) charts.push(latency);
    document.getElementById('charts').replaceChildren(...charts);
    document.getElementById('traffic').hidden = false;
  };

  const readLatency = async () => {
    const filter = encodeURIComponent('^http\\..*\\.downstream_rq_time$');
    const page = await readJson(`stats?format=json&histogram_buckets=disjoint&filter=${filter}`);
    const histograms = page?.histograms ?? page?.stats?.find((stat) => stat.histograms)?.histograms;
    if (!Array.isArray(histograms)) return undefined;
    const counts = new Map();
    for (const histogram of histograms) {
      if (histogram.name.startsWith('http.admin.')) continue;
      for (const bucket of histogram.buckets ?? []) {
        counts.set(
          bucket.upper_bound,
          (counts.get(bucket.upper_bound) ?? 0) + Number(bucket.cumulative),
        );
      }
    }
    const all = [...counts].map(([bound, count]) => ({ bound, count }));
    all.sort((left, right) => left.bound - right.bound);
    const buckets = all.slice(
      all.findIndex(({ count }) => count > 0),
      all.findLastIndex(({ count }) => count > 0) + 1,
    );
    if (buckets.length === 0) return undefined;
    const title = `Latency: p50 ${below(buckets, 0.5)}, p99 ${below(buckets, 0.99)}`;
    const ends = [`${buckets[0].bound} ms`, 'since start', `${buckets.at(-1).bound} ms`];
    return chart(title, bars(buckets), ends);
  };

  // The bound of the bucket that the share of all requests reaches.
  const below = (buckets, share) => {
    const wanted = share * buckets.reduce((total, { count }) => total + count, 0);
    let seen = 0;
    const reached = buckets.find(({ count }) => (seen += count) >= wanted);
    return `\u2264 ${reached?.bound ?? '?'} ms`;
  };

  const readOverview = async () => {
    const response = await fetch('./', { cache: 'no-store' });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const fresh = page.getElementById('overview');
    const current = document.getElementById('overview');
    const traffic = document.getElementById('traffic');
    fresh.querySelector('#traffic').replaceWith(traffic);
    current.replaceChildren(...fresh.childNodes);
    applySearch();
  };

  let isReading = false;
  const refresh = async () => {
    if (isReading || document.hidden) return;
    isReading = true;
    try {
      await readOverview();
      await readTraffic();
    } catch {
      const badge = document.querySelector('.badge');
      badge.textContent = 'NO ANSWER';
      badge.className = 'badge bad';
    } finally {
      isReading = false;
    }
  };
  setInterval(() => void refresh(), PERIOD_MS);
  void refresh();
})();
