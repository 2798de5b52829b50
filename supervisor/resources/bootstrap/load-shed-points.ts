/**
 * Resolves what sets the overload manager to work: triggers, and the points at which work is
 * refused.
 */
import { meantName } from '../meant-name.ts';
import type {
  LoadShedPoint as PointMessage,
  Trigger as TriggerMessage,
} from '../../../shared/api/generated/envoy/config/overload/v3/overload.ts';
import { SHED_POINT_PREFIX, SHED_POINTS } from '../../../shared/resources/overload.ts';
import type { LoadShedPoint, Trigger } from '../../overload/overload-config.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

const POINT_FIELDS = knownFields<PointMessage>(['name', 'triggers']);
/** Points of a protocol that listeners here do not speak: nothing of it has to be refused. */
const ELSEWHERE = /^envoy\.load_shed_points\.http3_server_go_away/;

/** A point that nothing here passes is warned of: it would never refuse anything. */
export function resolveShedPoints(
  messages: readonly PointMessage[] | undefined,
  known: ReadonlySet<string>,
  scope: Scope,
): readonly LoadShedPoint[] {
  const seen = new Set<string>();
  return (messages ?? []).flatMap((message, index) => {
    const place = scope.at(index);
    refuseOtherFields(message, POINT_FIELDS, place);
    const { name = '', triggers = [] } = message;
    if (seen.has(name)) place.error('duplicate', `Duplicate loadshed point ${name}`);
    seen.add(name);
    const what = `loadshed point ${name}`;
    const resolved = resolveTriggers(triggers, { known, what }, place.at('triggers'));
    const point = SHED_POINTS.find((each) => SHED_POINT_PREFIX + each === name);
    if (point !== undefined) return [{ point, triggers: resolved }];
    if (ELSEWHERE.test(name)) {
      place.at('name').warning('no_effect', `nothing here passes the load shed point '${name}'`);
    } else {
      place.at('name').unsupported(`load shed point '${name}' is`);
    }
    return [];
  });
}

/** `what` names the owner in messages. */
export function resolveTriggers(
  messages: readonly TriggerMessage[],
  { known, what }: { readonly known: ReadonlySet<string>; readonly what: string },
  scope: Scope,
): readonly Trigger[] {
  const watched = new Set<string>();
  return messages.map((trigger, number) => {
    const at = scope.at(number);
    const monitor = trigger.name ?? '';
    if (!known.has(monitor)) {
      const text = `Unknown trigger resource ${monitor} for ${what}`;
      at.error('reference', text, meantName(monitor, known));
    }
    if (watched.has(monitor)) at.error('duplicate', `Duplicate trigger resource for ${what}`);
    watched.add(monitor);
    return resolveTrigger(trigger, monitor, at);
  });
}

function resolveTrigger(message: TriggerMessage, monitor: string, scope: Scope): Trigger {
  const { scaled } = message;
  if (scaled === undefined) {
    return { monitor, kind: 'threshold', value: Number(message.threshold?.value ?? 0) };
  }
  const from = Number(scaled.scaling_threshold ?? 0);
  const to = Number(scaled.saturation_threshold ?? 0);
  if (from >= to) {
    scope
      .at('scaled')
      .error('conflict', 'scaling_threshold must be less than saturation_threshold');
  }
  return { monitor, kind: 'scaled', from, to };
}
