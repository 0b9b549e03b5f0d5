import { type Static, Type } from 'typebox';
import { Body, Id, Timestamp } from './common.ts';

/** Content type of SCIM (RFC 7644, 3.1). */
export const SCIM_TYPE = 'application/scim+json';

export const SCIM_SCHEMAS = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
  configuration: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  resourceType: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
} as const;

/** The most users of a SCIM page. */
export const MAX_SCIM_PAGE = 200;

const Name = Type.Object({
  formatted: Type.Optional(Type.String()),
  givenName: Type.Optional(Type.String()),
  familyName: Type.Optional(Type.String()),
});

const ScimEmail = Type.Object({
  value: Type.String(),
  type: Type.Optional(Type.String()),
  primary: Type.Optional(Type.Boolean()),
});

/** The attributes that the service keeps of a user in a directory. It accepts and ignores other attributes. */
export const ScimAttributes = Type.Object({
  userName: Type.String(),
  externalId: Type.Optional(Type.String()),
  displayName: Type.Optional(Type.String()),
  name: Type.Optional(Name),
  emails: Type.Optional(Type.Array(ScimEmail)),
});
export type ScimAttributes = Static<typeof ScimAttributes>;

export const ScimUser = Type.Object({
  schemas: Type.Array(Type.String()),
  id: Id('dir'),
  ...ScimAttributes.properties,
  active: Type.Boolean({ description: 'whether the person is a member or invited' }),
  meta: Type.Object({
    resourceType: Type.String(),
    created: Timestamp,
    lastModified: Timestamp,
    location: Type.String(),
  }),
});
export type ScimUser = Static<typeof ScimUser>;

const listOf = <Item extends typeof ScimUser | typeof ScimDescription>(item: Item) =>
  Type.Object({
    schemas: Type.Array(Type.String()),
    totalResults: Type.Integer(),
    startIndex: Type.Integer(),
    itemsPerPage: Type.Integer(),
    Resources: Type.Array(item),
  });

/** A document about the service itself (RFC 7643, 5 to 7). */
export const ScimDescription = Type.Object({ schemas: Type.Array(Type.String()) }, { additionalProperties: true });
export const ScimDescriptions = listOf(ScimDescription);
export const ScimUsers = listOf(ScimUser);

/** Directories send attributes in their own types, so the service reads them itself. */
export const ScimUserBody = Type.Unsafe<Record<string, unknown>>(
  Type.Object(
    { userName: Type.String({ minLength: 1, maxLength: 254, description: 'compared without regard to case' }) },
    { additionalProperties: true },
  ),
);

export const ScimPatchBody = Body({
  Operations: Type.Array(
    Type.Object({
      op: Type.String({ pattern: '^([Aa]dd|[Rr]eplace|[Rr]emove)$' }),
      path: Type.Optional(Type.String({ maxLength: 256 })),
      value: Type.Optional(Type.Unknown()),
    }),
    { minItems: 1, maxItems: 100 },
  ),
});
export type ScimOperation = Static<typeof ScimPatchBody>['Operations'][number];

export const ScimListQuery = Type.Object({
  filter: Type.Optional(
    Type.String({ maxLength: 512, description: 'such as `userName eq "person@example.com"`; also `externalId`, `id`' }),
  ),
  startIndex: Type.Optional(Type.String({ pattern: '^-?[0-9]{1,9}$', description: 'of the first user; default 1' })),
  count: Type.Optional(
    Type.String({ pattern: '^-?[0-9]{1,9}$', description: `users of a page; at most and by default ${MAX_SCIM_PAGE}` }),
  ),
});

/** RFC 7644, 3.12. */
export const ScimError = Type.Object({
  schemas: Type.Array(Type.String()),
  status: Type.String({ description: 'the HTTP status' }),
  scimType: Type.Optional(Type.String()),
  detail: Type.String(),
});

/** The token of an organization's directory, without its value. */
export const DirectoryToken = Type.Object({
  tokenId: Id('dit'),
  lastFour: Type.String(),
  createdBy: Id('usr'),
  issuerIsOwner: Type.Boolean({
    description: 'false: the person who issued the token is no owner any more. They may know its value, so replace it',
  }),
  createdAt: Timestamp,
  lastUsedAt: Type.Optional(Timestamp),
});
export type DirectoryToken = Static<typeof DirectoryToken>;

export const Directory = Type.Object({
  baseUrl: Type.String({ description: 'address of SCIM, to enter in the directory' }),
  token: Type.Optional(DirectoryToken),
});
export type Directory = Static<typeof Directory>;

/** The value is shown once. */
export const IssuedDirectoryToken = Type.Object({ ...Directory.properties, value: Type.String() });
