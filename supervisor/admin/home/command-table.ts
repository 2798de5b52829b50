/** The endpoints as a table: a link, or a form when there are parameters or something changes. */
import type { ShownParam } from '../../http-pages/params.ts';
import type { AdminRoute } from '../admin-route.ts';
import { escapeHtml } from './escape-html.ts';

/** What asks before it is sent, when the script runs. */
const DESTRUCTIVE: ReadonlySet<string> = new Set([
  '/quitquitquit',
  '/drain_listeners',
  '/healthcheck/fail',
  '/reset_counters',
]);

export function renderCommandTable(routes: readonly AdminRoute[]): string {
  const rows = routes.filter(({ path }) => path !== '/').map(renderRoute);
  return (
    `<details class="view" id="commands"><summary>Commands</summary>\n` +
    `<p><input type="search" id="command-search" hidden placeholder="Search" ` +
    `aria-label="Search commands"></p>\n` +
    `<table class="commands">\n<thead><tr><th>Command</th><th>Description</th></tr></thead>\n` +
    `${rows.join('')}</table></details>\n`
  );
}

// One tbody per command, so that a search shows or hides it with its parameters.
function renderRoute(route: AdminRoute): string {
  const name = escapeHtml(route.path.slice(1));
  const params = route.params.map((param) => renderParam(name, param, undefined));
  return (
    `<tbody class="command">\n<tr><td>${renderLink(route, name)}</td>` +
    `<td>${escapeHtml(route.help)}</td></tr>\n${params.join('')}</tbody>\n`
  );
}

function renderLink(route: AdminRoute, name: string): string {
  if (!route.mutates && route.params.length === 0) return `<a href="${name}">${name}</a>`;
  const method = route.mutates ? 'post' : 'get';
  const confirm = DESTRUCTIVE.has(route.path) ? ' data-confirm' : '';
  return (
    `<form action="${name}" method="${method}" id="${name}"${confirm}>` +
    `<button class="${method}">${name}</button></form>`
  );
}

/** One row; `command` is the form's name and HTML already, `value` what the field begins with. */
export function renderParam(command: string, param: ShownParam, value: string | undefined): string {
  const name = escapeHtml(param.name);
  const id = `${command}-${name}`;
  const attributes = `name="${name}" id="${id}" form="${command}"`;
  return (
    `<tr class="param"><td data-name="${name}">${renderInput(param, attributes, value)}</td>` +
    `<td><label for="${id}">${escapeHtml(param.help)}</label></td></tr>\n`
  );
}

function renderInput(param: ShownParam, attributes: string, value: string | undefined): string {
  switch (param.kind) {
    case 'boolean':
      return `<input type="checkbox" ${attributes}${value === undefined ? '' : ' checked'}>`;
    case 'string': {
      const given = value === undefined ? '' : ` value="${escapeHtml(value)}"`;
      return `<input type="text" ${attributes}${given}>`;
    }
    case 'enum': {
      const options = param.choices.map((choice) => {
        const text = escapeHtml(choice);
        const selected = choice === value ? ' selected' : '';
        return `<option value="${text}"${selected}>${text}</option>\n`;
      });
      return `<select ${attributes}>\n${options.join('')}</select>`;
    }
  }
}
