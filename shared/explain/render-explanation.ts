/** An explanation as text for people. */
import type {
  ExplainedAction,
  ExplainedChange,
  ExplainedCluster,
  Explanation,
} from './explanation.ts';

export function renderExplanation(explanation: Explanation): string {
  const { listener, filterChain, request, routing, filters, action, cluster, end } = explanation;
  const lines = [
    ...(listener === undefined ? [] : listenerLines(listener)),
    ...(filterChain === undefined ? [] : chainLines(filterChain)),
    ...(request === undefined ? [] : requestLines(request)),
    ...(routing === undefined ? [] : routingLines(routing)),
    ...(filters ?? []).map(filterLine),
    ...(action === undefined ? [] : actionLines(action)),
    ...(cluster === undefined ? [] : clusterLines(cluster)),
    ...(end === undefined ? [] : [endLine(end)]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function listenerLines({
  name,
  addresses,
  listenerFilters,
}: NonNullable<Explanation['listener']>): string[] {
  const line = `listener ${name} at ${addresses.join(', ') || 'no address'}`;
  if (listenerFilters.length === 0) return [line];
  return [line, `  looked at by ${listenerFilters.join(', ')}`];
}

function requestLines(request: NonNullable<Explanation['request']>): string[] {
  const kind = request.isInternal ? 'internal' : 'external';
  return [`request of ${request.clientAddress}, ${kind}`, ...changeLines(request.changes)];
}

function filterLine(filter: NonNullable<Explanation['filters']>[number]): string {
  const own = filter.hasRouteSettings ? ', with settings of the route' : '';
  return `filter ${filter.name}: ${filter.takesPart ? 'takes part' : 'left out'}, ${filter.why}${own}`;
}

function endLine({ status, details, why }: NonNullable<Explanation['end']>): string {
  const answer = status === undefined ? 'no answer' : `answer ${status}`;
  return `${answer}: ${why}${details === undefined ? '' : ` (${details})`}`;
}

function chainLines(chain: NonNullable<Explanation['filterChain']>): string[] {
  const name = chain.name === '' ? 'without a name' : chain.name;
  const lines = [`filter chain ${name}${chain.isDefault ? ', the default one' : ''}`];
  for (const { name: other, criterion, wants, actual } of chain.others) {
    const has = actual === '' ? 'nothing' : actual;
    lines.push(
      `  not ${other === '' ? 'one without a name' : other}: ${criterion} ${wants}; is ${has}`,
    );
  }
  if (chain.omitted > 0) lines.push(`  and ${chain.omitted} more`);
  return lines;
}

function changeLines(changes: readonly ExplainedChange[]): string[] {
  return changes.map(({ name, before, after }) => {
    if (after === undefined) return `  - ${name}: ${before}`;
    return before === undefined
      ? `  + ${name}: ${after}`
      : `  ~ ${name}: ${after} (was ${before === '' ? 'empty' : before})`;
  });
}

function routingLines(routing: NonNullable<Explanation['routing']>): string[] {
  const { routeConfiguration: table, virtualHost, tried, omitted } = routing;
  const name = table === '' ? 'without a name' : table;
  const lines = [`route configuration ${name}`];
  if (virtualHost === undefined) return [...lines, '  no virtual host has a domain that fits'];
  lines.push(`  virtual host ${virtualHost.name} by domain ${virtualHost.domain}`);
  for (const { position, name: route, match, failed } of tried) {
    const title = `  route ${position}${route === '' ? '' : ` ${route}`} (${match})`;
    lines.push(
      failed === undefined
        ? `${title}: fits`
        : `${title}: no, ${failed.condition} is ${failed.actual}; wants ${failed.wants}`,
    );
  }
  if (omitted > 0) lines.push(`  and ${omitted} more that do not fit`);
  return lines;
}

function actionLines(action: ExplainedAction): string[] {
  if (action.kind !== 'cluster') {
    const location = action.location === undefined ? '' : ` to ${action.location}`;
    return [`${action.kind.replaceAll('_', ' ')} ${action.status}${location}`];
  }
  const lines = ['sent to a host'];
  if (action.choice !== undefined) lines.push(`  cluster ${action.choice}`);
  const times: readonly (readonly [string, number | undefined])[] = [
    ['timeout', action.timeoutMs],
    ['timeout of an attempt', action.perTryTimeoutMs],
    ['idle timeout', action.idleTimeoutMs],
    ['longest stream', action.maxStreamDurationMs],
  ];
  for (const [name, ms] of times) {
    if (ms !== undefined) lines.push(`  ${name}: ${ms === 0 ? 'none' : `${ms} ms`}`);
  }
  const { retries, mirrors } = action;
  if (retries !== undefined) {
    lines.push(`  retries: ${retries.attempts} on ${retries.on.join(', ')}`);
  }
  if (mirrors !== undefined) lines.push(`  mirrored to ${mirrors.join(', ')}`);
  return [...lines, ...changeLines(action.changes ?? [])];
}

function clusterLines({ name, policy, priorities, hosts, omitted }: ExplainedCluster): string[] {
  const lines = [`cluster ${name}, ${policy}`];
  for (const { priority, healthyPercent, degradedPercent, isPanicking } of priorities) {
    const panic = isPanicking ? ', in panic' : '';
    const share = `${healthyPercent} % by healthy hosts, ${degradedPercent} % by degraded ones`;
    lines.push(`  priority ${priority} takes ${share}${panic}`);
  }
  for (const { address, mayBeChosen, why, weight, locality } of hosts) {
    const place = locality === '' ? '' : ` in ${locality}`;
    lines.push(`  ${mayBeChosen ? 'may' : 'not'} ${address}${place}, weight ${weight}: ${why}`);
  }
  if (omitted > 0) lines.push(`  and ${omitted} more`);
  return lines;
}
