/** The thread of a module that finds hosts: one for all clusters that name the module. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { definedModule, definitionOf } from '../../../shared/scripts/module-definition.ts';
import { readerOf, runModule } from '../../../shared/scripts/run-module.ts';
import { FoundLists } from './found-lists.ts';
import type { DiscoveryOrder, DiscoveryReport, ThreadData } from './discovery-messages.ts';

async function main(port: MessagePort): Promise<void> {
  const { module, loadTimeoutMs: timeoutMs } = workerData as ThreadData;
  const report = (one: DiscoveryReport): void => {
    port.postMessage(one, 'answer' in one ? [one.answer.buffer] : []);
  };
  const found = definedModule(await runModule(module.entry, readerOf(module), { timeoutMs }));
  if (found === undefined) throw new TypeError('it finds no hosts');
  const lists = new FoundLists(definitionOf(found, 'cluster_discovery'), report);
  port.on('message', (order: DiscoveryOrder) => lists.take(order));
  report({ report: 'ready' });
}

// A fault ends the thread, and the supervisor hears why.
if (parentPort !== null) void main(parentPort);
