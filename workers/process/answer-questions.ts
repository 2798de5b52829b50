/** What the supervisor asks of the data plane that takes some turns of the loop to answer. */
import { errorText } from '../../shared/text/error-text.ts';
import type { SupervisorToWorker } from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerToSupervisor } from '../../shared/messages/worker-to-supervisor.ts';
import type { WorkerStatStore } from '../stats/worker-stat-store.ts';
import type { DataPlane } from '../data-plane/data-plane-commands.ts';

export type Question = Extract<
  SupervisorToWorker,
  {
    readonly kind:
      | 'explain'
      | 'recall_refusals'
      | 'recall_exemplars'
      | 'list_connections'
      | 'list_further_connections'
      | 'close_connections';
  }
>;

export function isQuestion(command: SupervisorToWorker): command is Question {
  switch (command.kind) {
    case 'explain':
    case 'recall_refusals':
    case 'recall_exemplars':
    case 'list_connections':
    case 'list_further_connections':
    case 'close_connections':
      return true;
    default:
      return false;
  }
}

/** Never rejects: the answer says what went wrong. */
export async function answerQuestion(
  question: Question,
  dataPlane: Pick<DataPlane, 'explain' | 'connections' | 'refusals'>,
  stats: Pick<WorkerStatStore, 'exemplars'>,
): Promise<WorkerToSupervisor> {
  const { id } = question;
  const { connections } = dataPlane;
  switch (question.kind) {
    case 'explain':
      return {
        kind: 'explained',
        id,
        ...(await tried('explanation', dataPlane.explain(question.asked))),
      };
    case 'recall_refusals':
      return { kind: 'refusals', id, refusals: dataPlane.refusals.read() };
    case 'recall_exemplars':
      return { kind: 'exemplars', id, exemplars: stats.exemplars.read() };
    case 'list_connections':
      return {
        kind: 'listed_connections',
        id,
        ...(await tried('part', connections.list(question.question))),
      };
    case 'list_further_connections':
      return {
        kind: 'listed_connections',
        id,
        ...(await tried('part', connections.listFurther(question.walk))),
      };
    case 'close_connections':
      return {
        kind: 'closing_connections',
        id,
        ...(await tried('count', connections.close(question.order))),
      };
  }
}

/** The result under its name, or the error. */
async function tried<Name extends string, Value>(
  name: Name,
  answer: Promise<Value>,
): Promise<{ readonly [key in Name]?: Value } & { readonly error?: string }> {
  try {
    return { [name]: await answer } as { readonly [key in Name]?: Value };
  } catch (error) {
    return { error: errorText(error) } as { readonly [key in Name]?: Value } & {
      readonly error: string;
    };
  }
}
