/** Decides which headers of a request a service may change. */
import { makeRegexRunner } from '../../../shared/regex/run-regex.ts';
import type { HeaderMutationRules } from '../../../shared/resources/filters/common/mutation-rules.ts';
import { isAuthority, isTarget } from '../../stream/permitted.ts';

type MutationVerdict = 'allowed' | 'ignored' | 'failed';
export type MutationKind = 'set' | 'append' | 'remove';

export type MutationCheck = (kind: MutationKind, name: string, value: string) => MutationVerdict;

const ROUTING: ReadonlySet<string> = new Set([':authority', ':method', ':scheme', 'host']);
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

export function compileMutationRules(rules: HeaderMutationRules): MutationCheck {
  const { allowExpression, disallowExpression } = rules;
  const allows = allowExpression && makeRegexRunner(allowExpression);
  const disallows = disallowExpression && makeRegexRunner(disallowExpression);
  const mayChange = (name: string): boolean => {
    if (disallows?.test(name) === true) return false;
    if (allows?.test(name) === true) return true;
    if (rules.disallowsAll) return false;
    if (rules.disallowsSystem && name.startsWith(':')) return false;
    if (!rules.allowsEnvoy && name.startsWith('x-envoy')) return false;
    return rules.allowsRouting || !ROUTING.has(name);
  };
  const refused: MutationVerdict = rules.isError ? 'failed' : 'ignored';
  return (kind, name, value) => {
    if (kind === 'set' && !isValidPseudo(name, value)) return 'failed';
    if (kind !== 'set' && (name.startsWith(':') || name === 'host')) return refused;
    return mayChange(name) ? 'allowed' : refused;
  };
}

function isValidPseudo(name: string, value: string): boolean {
  switch (name) {
    case ':method':
      return TOKEN.test(value);
    case ':path':
      return isTarget(value);
    case ':scheme':
      return value === 'http' || value === 'https';
    case ':authority':
    case 'host':
      return isAuthority(value);
    default:
      return true;
  }
}
