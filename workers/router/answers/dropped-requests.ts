/**
 * Requests that a control plane wants dropped in front of a cluster (drop_overload): answered before a host is asked for.
 * Source: ClusterLoadAssignment.Policy.drop_overloads.
 */
import type { TerminalCallbacks } from '../../stream/filter.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { Failure } from './failures.ts';

interface Drop extends Failure {
  /** Header of the answer that tells of it. */
  readonly header: string;
}

/** What this request is told instead of being sent; undefined for most, as chance has it. */
export function drawDrop({ dropShare }: UpstreamCluster): Drop | undefined {
  if (dropShare <= 0 || Math.random() >= dropShare) return undefined;
  return dropShare === 1 ? UNCONDITIONAL : SOME;
}

/** No attempt was made of the request: it counts none. */
export function answerDropped(
  callbacks: TerminalCallbacks,
  { flag, status, body, details, header }: Drop,
  addsEnvoyHeaders: boolean,
): void {
  const { info } = callbacks;
  info.attemptCount = 0;
  info.responseFlags |= flag;
  callbacks.sendLocalReply({
    status,
    body,
    details,
    modifyHeaders: (headers) => {
      if (addsEnvoyHeaders) headers.set(header, 'true');
    },
  });
}

const SOME: Drop = {
  status: 503,
  flag: ResponseFlag.dropOverload,
  body: 'drop overload',
  details: 'drop_overload',
  isOverload: false,
  header: 'x-envoy-drop-overload',
};
const UNCONDITIONAL: Drop = {
  status: 503,
  flag: ResponseFlag.unconditionalDropOverload,
  body: 'unconditional drop overload',
  details: 'unconditional_drop_overload',
  isOverload: false,
  header: 'x-envoy-unconditional-drop-overload',
};
