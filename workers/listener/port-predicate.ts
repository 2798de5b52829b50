/** Decides by the port that a connection was made to. */
import type { PortPredicate } from '../../shared/resources/filters/listener-filter.ts';

export function matchesPort(predicate: PortPredicate, port: number): boolean {
  switch (predicate.kind) {
    case 'any':
      return true;
    case 'range':
      return port >= predicate.start && port < predicate.end;
    case 'not':
      return !matchesPort(predicate.rule, port);
    case 'and':
      return predicate.rules.every((rule) => matchesPort(rule, port));
    case 'or':
      return predicate.rules.some((rule) => matchesPort(rule, port));
  }
}
