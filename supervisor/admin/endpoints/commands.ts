/** Endpoints that hand one command to the server and say whether it was taken. */
import type { AdminContext, CommandResult } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { okResponse, textResponse } from '../http/responses.ts';

export function failHealthChecks(context: AdminContext): AdminResponse {
  return responseOf(context.commands.setHealthCheckFailed(true));
}

export function passHealthChecks(context: AdminContext): AdminResponse {
  return responseOf(context.commands.setHealthCheckFailed(false));
}

export function reopenLogs(context: AdminContext): AdminResponse {
  return responseOf(context.commands.reopenLogs());
}

export function quit(context: AdminContext): AdminResponse {
  return responseOf(context.commands.shutdown());
}

export async function resetCounters(context: AdminContext): Promise<AdminResponse> {
  await context.stats.resetCounters();
  return okResponse();
}

function responseOf(result: CommandResult): AdminResponse {
  return result.ok ? okResponse() : textResponse(`${result.reason}\n`, 503);
}
