/**
 * The folded parts of the home page: each is a form that a page of the interface answers, and a
 * place where the script shows the answer instead.
 */

interface View {
  readonly name: string;
  readonly title: string;
  /** Without a script it goes there. */
  readonly action: string;
  readonly method?: 'post';
  readonly fields: readonly Field[];
  readonly button: string;
  /** Only there with a script, which sends what plain forms cannot. */
  readonly more?: string;
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly choices?: readonly string[];
  readonly value?: string;
}

const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'];

const VIEWS: readonly View[] = [
  {
    name: 'explain',
    title: 'What becomes of a request',
    action: 'explain',
    fields: [
      { name: 'url', label: 'URL', value: 'http://localhost/' },
      { name: 'method', label: 'Method', value: 'GET' },
      { name: 'listener', label: 'Listener' },
      { name: 'header', label: 'Header, as name: value' },
      { name: 'client', label: 'IP address of the client' },
    ],
    button: 'Explain',
  },
  {
    name: 'routes',
    title: 'Routes',
    action: 'config_dump',
    fields: [{ name: 'name_regex', label: 'Name of the route table, as a regular expression' }],
    button: 'Show',
  },
  {
    name: 'connections',
    title: 'Connections',
    action: 'connections',
    fields: [
      { name: 'listener', label: 'Listener' },
      { name: 'client', label: 'Client: address or range' },
      { name: 'cluster', label: 'Cluster' },
      { name: 'host', label: 'Host' },
      { name: 'sort', label: 'Largest first', choices: ['', 'age', 'idle', 'bytes', 'streams'] },
    ],
    button: 'Show',
  },
  {
    name: 'history',
    title: 'Changes of the configuration',
    action: 'config_history',
    fields: [{ name: 'name', label: 'Name of the resource' }],
    button: 'Show',
  },
  {
    name: 'stats',
    title: 'Statistics',
    action: 'stats',
    fields: [{ name: 'filter', label: 'Regular expression', value: 'downstream_rq_(4|5)xx$' }],
    button: 'Show',
  },
  {
    name: 'logging',
    title: 'Log levels',
    action: 'logging',
    method: 'post',
    fields: [
      { name: 'paths', label: 'Levels, as name:level,name:level; * means any letters' },
      { name: 'for', label: 'Seconds after which they go back' },
    ],
    button: 'Set',
    more: `<p>Levels are ${LEVELS.join(', ')}.</p>`,
  },
  {
    name: 'runtime',
    title: 'Runtime values',
    action: 'runtime',
    fields: [],
    button: 'Show',
    more:
      '<form class="line" data-runtime hidden><label>Key <input type="text" name="key" required>' +
      '</label><label>Value, empty to take it back <input type="text" name="value"></label>' +
      '<button class="post">Set</button></form>',
  },
];

export function renderViews(isReadOnly: boolean): string {
  const views = VIEWS.map((view) => renderView(view, isReadOnly));
  return `<h2>Ask and change</h2>\n${views.join('')}`;
}

function renderView(view: View, isReadOnly: boolean): string {
  const { name, title, action, method = 'get', fields, button, more = '' } = view;
  const isRefused = isReadOnly && method === 'post';
  const shown = fields.map((field) => renderField(name, field)).join('');
  const disabled = isRefused ? ' disabled' : '';
  const extra = isReadOnly && more.includes('data-runtime') ? '' : more;
  return (
    `<details class="view" id="view-${name}" data-view="${name}"><summary>${title}</summary>\n` +
    `<form class="line" action="${action}" method="${method}">${shown}` +
    `<button class="${method === 'post' ? 'post' : 'get'}"${disabled}>${button}</button></form>\n` +
    `${extra}<div class="out" aria-live="polite"></div></details>\n`
  );
}

function renderField(view: string, { name, label, choices, value = '' }: Field): string {
  const id = `in-${view}-${name}`;
  const control =
    choices === undefined
      ? `<input type="text" id="${id}" name="${name}" value="${value}">`
      : `<select id="${id}" name="${name}">${choices
          .map((choice) => `<option value="${choice}">${choice || 'in any order'}</option>`)
          .join('')}</select>`;
  return `<label for="${id}">${label} ${control}</label>`;
}
