import { MAX_SCIM_PAGE, SCIM_SCHEMAS } from '../../contract/directory.ts';

/* The service's description of itself for a directory (RFC 7643, 5 to 7). */

export const CONFIGURATION = {
  schemas: [SCIM_SCHEMAS.configuration],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_SCIM_PAGE },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The token of the directory, which an owner issues on the page of members',
      primary: true,
    },
  ],
};

export const RESOURCE_TYPES = [
  {
    schemas: [SCIM_SCHEMAS.resourceType],
    id: 'User',
    name: 'User',
    endpoint: '/Users',
    description: 'A person who is a member, or was one',
    schema: SCIM_SCHEMAS.user,
  },
];

interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'complex';
  multiValued?: boolean;
  required?: boolean;
  uniqueness?: 'server';
  subAttributes?: object[];
}

const attribute = (given: Attribute) => ({
  multiValued: false,
  required: false,
  ...(given.type === 'string' && { caseExact: false }),
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...given,
});

const text = (name: string) => attribute({ name, type: 'string' });

export const SCHEMAS = [
  {
    schemas: [SCIM_SCHEMAS.schema],
    id: SCIM_SCHEMAS.user,
    name: 'User',
    description: 'User',
    attributes: [
      attribute({ name: 'userName', type: 'string', required: true, uniqueness: 'server' }),
      text('externalId'),
      text('displayName'),
      attribute({ name: 'active', type: 'boolean' }),
      attribute({ name: 'name', type: 'complex', subAttributes: ['formatted', 'givenName', 'familyName'].map(text) }),
      attribute({
        name: 'emails',
        type: 'complex',
        multiValued: true,
        subAttributes: [text('value'), text('type'), attribute({ name: 'primary', type: 'boolean' })],
      }),
    ],
  },
];
