/**
 * The entry of a worker process. It takes the signals of its process group before anything else is
 * loaded (only messages command a worker), then loads the rest.
 */
import { takeGroupSignals } from '../../shared/process/signals.ts';

takeGroupSignals(() => undefined);
void import('./run-worker.ts').then(async ({ runWorker }) => runWorker());
