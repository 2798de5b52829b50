/**
 * What has to be looked at in messages of a type, worked out once per type: for the constraint
 * checker (most of the API's fields have no rule that their absence could break), and for the fast
 * path of JSON, which reads and checks at the same time.
 */
import type { FieldRules } from '../../../shared/api/descriptor.ts';
import type { FieldType, MessageType } from '../api/api-catalog.ts';
import { defaultScalar } from '../convert/scalars.ts';
import { isWellKnown } from '../convert/well-known-reader.ts';
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
  /** Undefined: no message of this type is for the fast path. */
  readonly fastPath: FastPathPlan | undefined;
}

interface FastPathPlan {
  readonly fields: ReadonlyMap<string, FastPathField>;
  /** How many fields have to be there. */
  readonly needed: number;
  /** The bits of those oneofs that have to be there. */
  readonly requiredOneofs: number;
}

export interface FastPathField {
  readonly field: FieldType;
  readonly way: Way;
  /** A bit for each oneof of the message; 0 for none. */
  readonly oneof: number;
  /** It has to be there, or its default value breaks a rule. */
  readonly isNeeded: boolean;
  readonly hasRules: boolean;
}

/** How the fast path reads the value of a field. */
type Way = 'message' | 'messages' | 'text' | 'number' | 'boolean' | 'enum' | 'long';

const ANY = 'google.protobuf.Any';
/** They are bits of a small integer. */
const ONEOFS_MAX = 31;

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

function makePlan(type: MessageType): MessagePlan {
  const { fields, oneofs } = type;
  const [members, others] = [
    fields.filter(({ descriptor }) => descriptor.oneof !== undefined),
    fields.filter(({ descriptor }) => descriptor.oneof === undefined),
  ];
  const needed = new Set(others.filter((field) => isNeeded(field)));
  return {
    fields: [...others, ...members].filter(
      ({ kind, descriptor }) => kind === 'message' || descriptor.rules !== undefined,
    ),
    needed,
    requiredOneofs: oneofs.flatMap(({ name, required }, index) =>
      required === true
        ? [{ name, members: members.filter(({ descriptor }) => descriptor.oneof === index) }]
        : [],
    ),
    fastPath: fastPathPlan(type, needed),
  };
}

function fastPathPlan(
  { fields, oneofs, workInProgress }: MessageType,
  needed: ReadonlySet<FieldType>,
): FastPathPlan | undefined {
  if (workInProgress || oneofs.length > ONEOFS_MAX) return undefined;
  const plans = fields
    // The use of these is reported.
    .filter(({ descriptor }) => !(descriptor.deprecated || descriptor.workInProgress))
    .map((field): FastPathField => {
      const { oneof, rules } = field.descriptor;
      return {
        field,
        way: wayOf(field),
        oneof: oneof === undefined ? 0 : 1 << oneof,
        isNeeded: needed.has(field),
        hasRules: rules !== undefined,
      };
    });
  return {
    fields: new Map(plans.map((plan) => [plan.field.name, plan])),
    needed: needed.size,
    requiredOneofs: oneofs.reduce(
      (bits, { required }, index) => (required === true ? bits | (1 << index) : bits),
      0,
    ),
  };
}

function wayOf(field: FieldType): Way {
  const { kind, isList, isMap } = field;
  if (isMap) return 'long';
  if (kind === 'message') return wayOfMessages(field);
  if (isList) return 'long';
  if (kind === 'enum') return field.enum.fullName.startsWith('google.') ? 'long' : 'enum';
  if (kind === 'bool') return 'boolean';
  if (kind === 'string') return 'text';
  return typeof defaultScalar(kind) === 'number' ? 'number' : 'long';
}

function wayOfMessages({ isList, descriptor: { type = '', rules } }: FieldType): Way {
  if (isWellKnown(type) && type !== ANY) return 'long';
  if (!isList) return 'message';
  const { unique, items } = rules?.repeated ?? {};
  return unique === true || items !== undefined ? 'long' : 'messages';
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
