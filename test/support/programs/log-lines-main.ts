/**
 * A process that writes numbered lines to the process log, for tests of several writers.
 * Arguments: path of the log (empty for standard error), a name, the number of lines. It tells its
 * parent `half` half way, goes on when told `go`, reopens its log when told `reopen` and ends by
 * telling how many lines were lost.
 */
import { configureLogging, getLogger, processLog } from '../../../shared/logging/process-log.ts';

const [, , path = '', name = '', count = '0'] = process.argv;
const log = getLogger('main');
configureLogging({
  levels: { default: 'info', components: {}, files: [] },
  format: '%v',
  isEscaped: false,
  isFineGrain: false,
  isStackSingleEntry: false,
  path,
});
const total = Number(count);

process.on('message', (message) => {
  if (message === 'reopen') processLog.reopen();
  if (message === 'go') write(total / 2, total, () => process.send?.(processLog.droppedLines));
});

write(0, total / 4, () => {
  void processLog.attachPino().then(() => {
    write(total / 4, total / 2, () => process.send?.('half'));
  });
});

/** A few lines per turn of the loop, so that messages come in between. */
function write(from: number, to: number, done: () => void): void {
  if (from >= to) {
    done();
    return;
  }
  const end = Math.min(from + 5, to);
  for (let line = from; line < end; line++) log.info(`${name} ${line} ${'x'.repeat(line % 500)}.`);
  setImmediate(() => write(end, to, done));
}
