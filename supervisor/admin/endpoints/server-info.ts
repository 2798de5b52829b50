/** `/server_info`: envoy.admin.v3.ServerInfo with its defaults printed. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { redactConfigYaml } from '../config-dump/redact-config-yaml.ts';
import { jsonResponse } from '../http/responses.ts';
import type { MessageTypes } from '../message-types.ts';
import { printDefaults } from '../print-defaults.ts';

export async function answerServerInfo(
  context: AdminContext,
  types: MessageTypes,
): Promise<AdminResponse> {
  const { server } = context;
  const uptimeS = (context.clock.monotonicNs() - server.startedAtNs) / 1_000_000_000n;
  const allEpochsS = Math.floor(context.clock.wallMs() / 1000) - server.firstEpochStartUnixSeconds;
  const options = server.commandLineOptions();
  const { config_yaml: yaml } = options;
  const shown =
    typeof yaml === 'string' ? { config_yaml: await redactConfigYaml(types, yaml) } : {};
  const info: JsonObject = {
    version: server.version,
    state: server.state(),
    uptime_current_epoch: `${uptimeS}s`,
    uptime_all_epochs: `${Math.max(allEpochsS, Number(uptimeS))}s`,
    hot_restart_version: server.hotRestartVersion,
    command_line_options: { ...options, ...shown },
    node: printDefaults(types, 'envoy.config.core.v3.Node', server.node()),
    hot_restart_initializing: false,
  };
  return jsonResponse(info);
}
