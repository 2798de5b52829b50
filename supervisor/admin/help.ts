/** The table of `/help`, made from the routing table. */
import type { ShownParam } from '../http-pages/params.ts';
import type { AdminRoute } from './admin-route.ts';

/** Ends in a line feed; unknown paths are answered with it too. */
export function renderHelp(routes: readonly AdminRoute[]): string {
  const lines = ['admin commands are:'];
  for (const route of routes) {
    lines.push(`  ${route.path}${route.mutates ? ' (POST)' : ''}: ${route.help}`);
    for (const param of route.params) lines.push(`      ${param.name}: ${describe(param)}`);
  }
  return `${lines.join('\n')}\n`;
}

function describe(param: ShownParam): string {
  return param.kind === 'enum' ? `${param.help}; One of (${param.choices.join(', ')})` : param.help;
}
