/** What the admin interface and `server.state` say of where a server is in its life. */
import { assertNever } from '../../shared/process/assert-never.ts';
import type { Phase } from './life-cycle.ts';

/** envoy.admin.v3.ServerInfo.State; `/ready` answers 200 only for `LIVE`. */
export type ServerState = 'LIVE' | 'DRAINING' | 'PRE_INITIALIZING' | 'INITIALIZING';

/** `isUnready`: the health check was failed by command, or a drain of our own kind goes on. */
export function serverStateOf(phase: Phase, isUnready: boolean): ServerState {
  switch (phase) {
    case 'loading':
    case 'warming':
      return 'PRE_INITIALIZING';
    case 'initializing':
      return 'INITIALIZING';
    case 'live':
      return isUnready ? 'DRAINING' : 'LIVE';
    case 'draining':
    case 'terminating':
    case 'ended':
      return 'DRAINING';
    default:
      return assertNever(phase);
  }
}

/** The values of the gauge `server.state`. */
export const STATE_VALUES: Readonly<Record<ServerState, number>> = {
  LIVE: 0,
  DRAINING: 1,
  PRE_INITIALIZING: 2,
  INITIALIZING: 3,
};
