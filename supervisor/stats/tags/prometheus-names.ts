/** Names and label values as Prometheus allows them. */

/**
 * `cluster.upstream_rq_total` becomes `envoy_cluster_upstream_rq_total`; our own keep their name.
 */
export function metricName(extractedName: string): string {
  const prefix = extractedName.startsWith('sluice.') ? '' : 'envoy_';
  return `${prefix}${extractedName.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`;
}

export function labelName(tag: string): string {
  return tag.replaceAll(/[^a-zA-Z0-9_]/g, '_');
}

export function escapeLabelValue(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** A tag as it stands between the braces of a series. */
export function labelText({
  tag,
  value,
}: {
  readonly tag: string;
  readonly value: string;
}): string {
  return `${labelName(tag)}="${escapeLabelValue(value)}"`;
}

export interface Label {
  readonly name: string;
  readonly value: string;
}

/** Takes apart what stands between the braces of a series. */
export function labelsOf(text: string): readonly Label[] {
  return [...text.matchAll(LABEL)].map(([, name = '', value = '']) => ({
    name,
    value: value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
  }));
}

const LABEL = /([A-Za-z_0-9]+)="((?:[^"\\]|\\.)*)"/g;
