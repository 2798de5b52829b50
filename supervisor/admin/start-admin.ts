/**
 * Brings the admin interface up: routes, rules, statistics and the listening sockets. The
 * composition of the supervisor calls this once per epoch; without an `admin` section it does not.
 */
import { openFileLimit } from '../../shared/posix/processes.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { LineLogConfig } from '../../shared/resources/access-loggers/lines.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import { Profilers } from '../profiling/profilers.ts';
import type { WorkerProfilers } from '../profiling/profilers.ts';
import { openAdminAccessLog } from './access-log/admin-access-log.ts';
import { mayConnect } from './access-rules.ts';
import type { AdminContext } from './admin-context.ts';
import { createAdminRouter } from './admin-router.ts';
import type { AdminRules } from './admin-router.ts';
import { adminRoutes } from './admin-routes.ts';
import { modulePages } from './module-pages.ts';
import type { AdminPages } from '../resolved/admin-pages.ts';
import { AdminServer } from './admin-server.ts';
import { bindAdmin, describeAddress, isLocalOnly } from './bind-admin.ts';
import type { AdminAddress } from './bind-admin.ts';
import { limitsWithin, type AdminLimits } from './http/admin-limits.ts';
import { AdminStats } from './http/admin-stats.ts';
import { createMessageTypes } from './message-types.ts';

/** How often the heap's size is looked at; the sampling itself begins with the first look. */
const HEAP_LOOK_MS = 3000;

export interface AdminOptions extends AdminRules {
  /** At least one. */
  readonly addresses: readonly AdminAddress[];
  readonly limits?: AdminLimits;
  /** `admin.profile_path`. */
  readonly profilePath?: string;
  readonly workerProfilers?: WorkerProfilers;
  /** Samples the heaps of workers all the time, not only while a profiler runs. */
  readonly heapSampling?: boolean;
  /** `admin.access_log` and `access_log_path`. */
  readonly accessLogs?: readonly LineLogConfig[];
  /** Milliseconds between two writes of their buffers. */
  readonly fileFlushIntervalMs?: number;
  /** Pages that are modules. */
  readonly modulePages?: readonly AdminPages[];
}

export interface AdminHandle {
  /** Opens the admin's access logs again. */
  reopenLogs(): void;
  /** In the order of the options, with the ports that were given for 0. */
  readonly addresses: readonly BoundAddress[];
  /** Stops listening; open connections go on. */
  stopListening(): void;
  /** Stops listening and ends every connection. */
  close(): void;
}

/**
 * Rejects with AdminBindError when an address cannot be bound; then none is. Rejects with
 * the error of opening the file when an access log cannot be written.
 */
export async function startAdmin(
  context: AdminContext,
  options: AdminOptions,
): Promise<AdminHandle> {
  const { clock } = context;
  const addresses: BoundAddress[] = [];
  const profilers = new Profilers({
    ...(options.profilePath === undefined ? {} : { path: options.profilePath }),
    ...(options.workerProfilers === undefined ? {} : { workers: options.workerProfilers }),
    samplesWorkers: options.heapSampling === true,
  });
  const routes = adminRoutes({
    types: createMessageTypes(),
    profilers,
    isReadOnly: options.readOnly === true,
    isLegacy: options.isLegacy === true,
    hasDashboard: context.stats.dashboardStream !== undefined,
    modulePages: (taken) =>
      modulePages(options.modulePages ?? [], taken, () => addressToAsk(addresses[0])),
  });
  const router = createAdminRouter(routes, context, options);
  const accessLog = openAdminAccessLog(options.accessLogs ?? [], {
    clock,
    runtime: () => context.runtime.snapshot(),
    flushIntervalMs: options.fileFlushIntervalMs ?? 10_000,
    onFailure: (text) => context.log('warning', text),
  });
  const server = new AdminServer({
    router,
    stats: new AdminStats(context.statWriter, clock),
    clock,
    turns: context.turns,
    limits: options.limits ?? limitsWithin(Number(openFileLimit().current)),
    mayConnect: (socket) => mayConnect(socket, options),
    onAnswered: (entry) => accessLog.write(entry),
  });
  try {
    for (const wanted of options.addresses) {
      const bound = await bindAdmin(server.addServer(), wanted);
      addresses.push(bound);
      announce(context, bound);
    }
  } catch (error) {
    server.close();
    accessLog.close();
    throw error;
  }
  // Later, since loading the profiler would cost time at the start.
  const sampling = clock.every(HEAP_LOOK_MS, () => void sampleHeap(context, profilers), {
    unref: true,
  });
  return {
    addresses,
    reopenLogs: () => accessLog.reopen(),
    stopListening: () => server.stopListening(),
    close: () => {
      sampling.cancel();
      server.close();
      accessLog.close();
    },
  };
}

async function sampleHeap(context: AdminContext, profilers: Profilers): Promise<void> {
  try {
    await profilers.sample();
    await profilers.notePeak();
  } catch (error) {
    const reason = errorText(error);
    context.log('warning', `cannot sample the heap: ${reason}`);
  }
}

function announce(context: AdminContext, address: BoundAddress): void {
  const name = describeAddress(address);
  context.log('info', `admin address: ${name}`);
  if (!isLocalOnly(address)) {
    context.log(
      'warning',
      `the admin interface listens on ${name}, which is neither loopback nor a unix socket: ` +
        'anybody who reaches it can read the configuration and stop the server',
    );
  }
}

/** A socket's path is nothing that a page could ask. */
function addressToAsk(
  bound: BoundAddress | undefined,
): { readonly host: string; readonly port: number } | undefined {
  if (bound?.kind !== 'ip') return undefined;
  const { address, port, family } = bound;
  const isAny = address === '0.0.0.0' || address === '::';
  const loopback = family === 'v4' ? '127.0.0.1' : '::1';
  return { host: isAny ? loopback : address, port };
}
