/** The API as one model: messages, enums and services by their full names. */
import type {
  EnumDescriptor,
  EnumValueStatus,
  FieldDescriptor,
  MessageDescriptor,
  MethodDescriptor,
  OneofDescriptor,
} from '../../shared/api/descriptor.ts';

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface MessageModel extends Mutable<Omit<MessageDescriptor, 'fields' | 'oneofs'>> {
  readonly name: string;
  readonly packageName: string;
  readonly fields: Mutable<FieldDescriptor>[];
  readonly oneofs: OneofDescriptor[];
}

export interface EnumModel {
  readonly name: string;
  readonly packageName: string;
  readonly file: string;
  readonly values: Record<string, number>;
  readonly deprecated: Record<string, EnumValueStatus>;
}

export interface ServiceModel {
  readonly name: string;
  readonly packageName: string;
  readonly methods: Mutable<MethodDescriptor>[];
}

/** The API by full names. */
export interface ApiModel {
  /** Files that are marked as work in progress, which marks every message in them. */
  readonly unfinishedFiles: Set<string>;
  readonly messages: Map<string, MessageModel>;
  readonly enums: Map<string, EnumModel>;
  readonly services: Map<string, ServiceModel>;
}

/** The descriptor of an enum, without empty members. */
export function enumDescriptor(model: EnumModel): EnumDescriptor {
  const { file, values, deprecated } = model;
  return { file, values, ...(Object.keys(deprecated).length > 0 ? { deprecated } : {}) };
}
