/** What the admin interface and `server.state` say of where a server is in its life. */
import { assertNever } from '../shared/assert-never.ts';
import type { ServerState } from './admin/admin-context.ts';
import type { Phase } from './life-cycle.ts';

/** A server whose health check was failed by command says that it drains. */
export function serverStateOf(phase: Phase, isHealthCheckFailed: boolean): ServerState {
  switch (phase) {
    case 'loading':
    case 'warming':
      return 'PRE_INITIALIZING';
    case 'initializing':
      return 'INITIALIZING';
    case 'live':
      return isHealthCheckFailed ? 'DRAINING' : 'LIVE';
    case 'draining':
    case 'terminating':
    case 'ended':
      return 'DRAINING';
    default:
      return assertNever(phase);
  }
}
