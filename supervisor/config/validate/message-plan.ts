/**
 * Which fields of a message type have to be looked at, worked out once per type: most of the API's
 * fields have no rule that their absence could break.
 */
import type { FieldRules } from '../../../shared/api/descriptor.ts';
import type { FieldType, MessageType } from '../api/api-catalog.ts';
import { checkValue, defaultOf } from './check-value.ts';

/** What there is to check in messages of one type. */
export interface MessagePlan {
  /** Those with a rule or messages of their own. Members of a oneof stand behind the others. */
  readonly fields: readonly FieldType[];
  /** Those whose rules are broken when they are absent. */
  readonly needed: ReadonlySet<FieldType>;
  readonly requiredOneofs: readonly {
    readonly name: string;
    readonly members: readonly FieldType[];
  }[];
}

const plans = new WeakMap<MessageType, MessagePlan>();

/** Made once per type. */
export function planOf(type: MessageType): MessagePlan {
  let plan = plans.get(type);
  if (plan === undefined) {
    plan = makePlan(type);
    plans.set(type, plan);
  }
  return plan;
}

function makePlan({ fields, oneofs }: MessageType): MessagePlan {
  const [members, others] = [
    fields.filter(({ descriptor }) => descriptor.oneof !== undefined),
    fields.filter(({ descriptor }) => descriptor.oneof === undefined),
  ];
  return {
    fields: [...others, ...members].filter(
      ({ kind, descriptor }) => kind === 'message' || descriptor.rules !== undefined,
    ),
    needed: new Set(others.filter((field) => isNeeded(field))),
    requiredOneofs: oneofs.flatMap(({ name, required }, index) =>
      required === true
        ? [{ name, members: members.filter(({ descriptor }) => descriptor.oneof === index) }]
        : [],
    ),
  };
}

/** Fields without presence are checked with their default value, as if it were written. */
function isNeeded(field: FieldType): boolean {
  const { rules } = field.descriptor;
  if (rules === undefined) return false;
  if (field.isMap) return rules.map?.min_pairs !== undefined && rules.map.ignore_empty !== true;
  if (field.isList) {
    return rules.repeated?.min_items !== undefined && rules.repeated.ignore_empty !== true;
  }
  if (isRequired(rules)) return true;
  if (field.kind === 'message' || field.hasPresence) return false;
  return checkValue(field, rules, defaultOf(field)) !== undefined;
}

/** Whether a rule says that the field has to be there. */
export function isRequired(rules: FieldRules | undefined): boolean {
  return (
    rules?.message?.required === true ||
    rules?.any?.required === true ||
    rules?.duration?.required === true ||
    rules?.timestamp?.required === true
  );
}
