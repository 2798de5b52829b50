/** What the supervisor asks about the modules of this worker. */
import type { SupervisorToWorker } from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerToSupervisor } from '../../shared/messages/worker-to-supervisor.ts';
import type { ScriptAnswer, ScriptStep } from '../../shared/messages/script-messages.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { DataPlane } from '../data-plane/data-plane-commands.ts';

export type ScriptCommand = Extract<
  SupervisorToWorker,
  { readonly kind: 'disable_script' | 'quota_command' | 'scripts' | 'shared_changed' }
>;

type Scripts = DataPlane['scripts'];

export async function stepOfScripts(
  command: Extract<ScriptCommand, { readonly kind: 'scripts' }>,
  scripts: Scripts,
): Promise<WorkerToSupervisor> {
  const { id } = command;
  try {
    return { kind: 'scripts', id, ...(await take(command, scripts)) };
  } catch (error) {
    return { kind: 'scripts', id, error: errorText(error) };
  }
}

async function take(step: ScriptStep, scripts: Scripts): Promise<ScriptAnswer> {
  switch (step.step) {
    case 'list':
      return { modules: scripts.list() };
    case 'prepare':
      await scripts.prepare(step.module);
      return {};
    case 'use':
      return { missing: await scripts.use(step.versions) };
    case 'drop':
      scripts.drop();
      return {};
  }
}
