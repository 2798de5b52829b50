/**
 * Requests that a control plane wants a cluster spared of: answered before a host is asked for.
 * Source: ClusterLoadAssignment.Policy.drop_overloads.
 */
import type { TerminalCallbacks } from '../../stream/filter.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';

/** Draws whether this request is one of them. */
export function isDropped({ dropShare }: UpstreamCluster): boolean {
  return dropShare > 0 && Math.random() < dropShare;
}

/** No try was made of the request: it counts none. */
export function answerDropped(
  callbacks: TerminalCallbacks,
  { dropShare }: UpstreamCluster,
  addsEnvoyHeaders: boolean,
): void {
  const { info } = callbacks;
  const { flag, body, details, header } = dropShare === 1 ? UNCONDITIONAL : SOME;
  info.attemptCount = 0;
  info.responseFlags |= flag;
  callbacks.sendLocalReply({
    status: 503,
    body,
    details,
    modifyHeaders: (headers) => {
      if (addsEnvoyHeaders) headers.set(header, 'true');
    },
  });
}

const SOME = {
  flag: ResponseFlag.dropOverload,
  body: 'drop overload',
  details: 'drop_overload',
  header: 'x-envoy-drop-overload',
};
const UNCONDITIONAL = {
  flag: ResponseFlag.unconditionalDropOverload,
  body: 'unconditional drop overload',
  details: 'unconditional_drop_overload',
  header: 'x-envoy-unconditional-drop-overload',
};
