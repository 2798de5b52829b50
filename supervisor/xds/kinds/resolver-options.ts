/** What resources that come while the server runs are resolved with, and how their problems are told. */
import type { Bootstrap } from '../../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import { formatPlace, type Problem } from '../../config/problem.ts';
import type { ResolvedBootstrap } from '../../resolved/resolved-bootstrap.ts';

/** What the command line and the bootstrap say of every resource. */
type ResolverRules = Pick<
  ResolvedBootstrap,
  'maxRegexProgramSize' | 'disabledExtensions' | 'filterSkips'
>;

export interface ResolverOptions {
  readonly bootstrap: Bootstrap;
  readonly rules: ResolverRules;
  /** Certificates and keys are not read. */
  readonly skipSecrets?: boolean;
  isKnownCluster(name: string): boolean;
  /** Whether a control plane may be reached through a cluster; absent: that is not looked at. */
  readonly isStaticCluster?: (name: string) => boolean;
  /** Notes what is accepted though it has no effect. */
  warn(text: string): void;
}

/** Messages that Envoy has too say by themselves what they mean; ours need the place. */
export function describeProblem({ message, place, suggestion, rule }: Problem): string {
  const hint = suggestion === undefined ? '' : ` (${suggestion})`;
  const where = rule === 'unsupported' || rule === 'no_effect' ? formatPlace(place) : '';
  return `${where === '' ? '' : `${where}: `}${message}${hint}`;
}
