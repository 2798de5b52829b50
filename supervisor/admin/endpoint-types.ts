/** The types of all endpoints for TypeScript programs, made from the routing table as docs/admin.md is. */
import type { ShownParam } from '../http-pages/params.ts';
import type { AdminRoute } from './admin-route.ts';

const BEGINNING = `/**
 * The endpoints of the administration interface and their parameters.
 *
 * Made from the routing table by \`node dist/scripts/pages/write-pages.js\`; do not edit.
 */

/** Numbers are sent as text, lists as a parameter for each entry; a flag is sent when it is true. */
type Text = string | number | readonly string[];
`;

const ENDING = `
export type ReadPath = keyof ReadEndpoints;
export type MutatingPath = keyof MutatingEndpoints;

/** All parameters of an endpoint may be left out; the server says which it cannot do without. */
export type ParamsOf<Path extends ReadPath | MutatingPath> = {
  readonly [Name in keyof Endpoints[Path]]?: Endpoints[Path][Name] | undefined;
};

type Endpoints = ReadEndpoints & MutatingEndpoints;
`;

export function endpointTypes(routes: readonly AdminRoute[]): string {
  const reads = routes.filter(({ mutates }) => !mutates);
  const mutations = routes.filter(({ mutates }) => mutates);
  return `${BEGINNING}
/** Asked by GET. */
${interfaceOf('ReadEndpoints', reads)}
/** Asked by POST. */
${interfaceOf('MutatingEndpoints', mutations)}${ENDING}`;
}

function interfaceOf(name: string, routes: readonly AdminRoute[]): string {
  return `interface ${name} {\n${routes.map(memberOf).join('')}}\n`;
}

function memberOf({ path, help, params, unshownParams }: AdminRoute): string {
  const unshown = unshownParams.map((name) => `    readonly ${nameOf(name)}: Text;\n`);
  const fields = [...params.map(fieldOf), ...unshown];
  const type = fields.length === 0 ? 'Record<never, never>' : `{\n${fields.join('')}  }`;
  return `  ${comment(help)}\n  readonly '${path}': ${type};\n`;
}

function fieldOf(param: ShownParam): string {
  return `    ${comment(param.help)}\n    readonly ${nameOf(param.name)}: ${typeOf(param)};\n`;
}

function nameOf(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : `'${name}'`;
}

function typeOf(param: ShownParam): string {
  switch (param.kind) {
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'Text';
    case 'enum':
      return param.choices
        .filter((choice) => choice !== '')
        .map((choice) => `'${choice}'`)
        .join(' | ');
  }
}

function comment(help: string): string {
  return `/** ${help.replaceAll('*/', '* /')} */`;
}
