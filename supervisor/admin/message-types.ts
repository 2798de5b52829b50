/**
 * Finds the descriptors of messages by full name for pages that must know an API type: field
 * masks, redaction, printing of defaults. Packages are read on first use and kept.
 */
import { readPackage } from '../../shared/api/descriptor.ts';
import type {
  FieldDescriptor,
  MessageDescriptor,
  PackageDescriptor,
} from '../../shared/api/descriptor.ts';

const TYPE_URL_PREFIX = 'type.googleapis.com/';

export interface MessageTypes {
  /** Undefined when the API has no such message. */
  find(fullName: string): MessageDescriptor | undefined;
  field(message: MessageDescriptor, name: string): FieldDescriptor | undefined;
}

export function typeUrlOf(fullName: string): string {
  return `${TYPE_URL_PREFIX}${fullName}`;
}

export function createMessageTypes(): MessageTypes {
  const packages = new Map<string, PackageDescriptor | undefined>();
  const messages = new Map<string, MessageDescriptor | undefined>();
  const fields = new WeakMap<MessageDescriptor, Map<string, FieldDescriptor>>();

  function packageOf(name: string): PackageDescriptor | undefined {
    if (!packages.has(name)) packages.set(name, readPackage(name));
    return packages.get(name);
  }

  // A message may be nested in another one, so the package is the longest prefix that exists.
  function search(fullName: string): MessageDescriptor | undefined {
    const parts = fullName.split('.');
    for (let split = parts.length - 1; split > 0; split--) {
      const found = packageOf(parts.slice(0, split).join('.'));
      const name = parts.slice(split).join('.');
      if (found !== undefined && Object.hasOwn(found.messages, name)) return found.messages[name];
      if (found !== undefined) return undefined;
    }
    return undefined;
  }

  return {
    find(fullName) {
      if (!messages.has(fullName)) messages.set(fullName, search(fullName));
      return messages.get(fullName);
    },
    field(message, name) {
      let byName = fields.get(message);
      if (byName === undefined) {
        byName = new Map(message.fields.map((field) => [field.name, field]));
        fields.set(message, byName);
      }
      return byName.get(name);
    },
  };
}
