// Keeps the admin home page fresh: reads its overview every two seconds and changes what is other,
// sends orders in place, filters the commands, asks before destructive ones. What it shows comes
// from the server's own page, or is set as text. console.js has the folded parts.
'use strict';
window.sluice = (() => {
  const PERIOD_MS = 2000;
  const byId = (id) => document.getElementById(id);
  const overview = byId('overview');
  const isReadOnly = overview.hasAttribute('data-read-only');
  const search = byId('search');

  const say = (text) => {
    byId('said').textContent = text;
  };

  // Elements stay where they are the same, so that the keyboard's place and a selection do too.
  const morph = (current, fresh) => {
    if (current.nodeType !== Node.ELEMENT_NODE || current.nodeName !== fresh.nodeName) {
      if (!current.isEqualNode(fresh)) current.replaceWith(fresh);
      return;
    }
    for (const name of current.getAttributeNames()) {
      if (!fresh.hasAttribute(name)) current.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (current.getAttribute(name) !== value) current.setAttribute(name, value);
    }
    const wanted = [...fresh.childNodes];
    const known = [...current.childNodes];
    for (const surplus of known.splice(wanted.length)) surplus.remove();
    known.forEach((child, index) => morph(child, wanted[index]));
    current.append(...wanted.slice(known.length));
  };

  const readOverview = async () => {
    const asked = new URLSearchParams({ part: 'overview', find: search.value });
    const response = await fetch(`./?${asked}`, { cache: 'no-store' });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const fresh = document.createElement('div');
    fresh.append(...page.body.childNodes);
    for (const { name, value } of overview.attributes) fresh.setAttribute(name, value);
    morph(overview, fresh);
  };

  // Shown while they are open; each reads again with every look at the overview.
  const live = new Map();

  let isReading = false;
  const refresh = async () => {
    if (isReading || document.hidden) return;
    isReading = true;
    try {
      await readOverview();
      for (const read of live.values()) await read();
    } catch {
      const badge = document.querySelector('.badge');
      badge.textContent = 'NO ANSWER';
      badge.className = 'badge bad';
    } finally {
      isReading = false;
    }
  };

  const send = async (action, values) => {
    const response = await fetch(action, { method: 'POST', body: new URLSearchParams(values) });
    return { ok: response.ok, text: (await response.text()).trim() };
  };

  let typing;
  search.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => void refresh(), 200);
  });
  search.form.addEventListener('submit', (event) => {
    event.preventDefault();
    void refresh();
  });

  const commands = byId('command-search');
  commands.hidden = false;
  commands.addEventListener('input', () => {
    const wanted = commands.value.trim().toLowerCase();
    for (const row of document.querySelectorAll('tbody.command')) {
      row.hidden = wanted !== '' && !row.textContent.toLowerCase().includes(wanted);
    }
  });

  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.hasAttribute('data-confirm') && !window.confirm(`Send ${form.id}?`)) {
      event.preventDefault();
    }
    if (!form.hasAttribute('data-inline')) return;
    event.preventDefault();
    const values = new FormData(form, event.submitter);
    const what = event.submitter.ariaLabel;
    send(form.getAttribute('action'), values).then(
      ({ text }) => {
        say(`${what}: ${text}`);
        return refresh();
      },
      () => say(`${what}: no answer`),
    );
  });

  setInterval(() => void refresh(), PERIOD_MS);
  return { isReadOnly, live, refresh, say, send };
})();
