import { type Static, Type } from 'typebox';
import { CATALOG } from './catalog.ts';
import { Body, Id, JsonObject, OneOf, Text, Timestamp } from './common.ts';

export type AgentId = (typeof CATALOG)[number]['agentId'];

const AGENT_IDS = CATALOG.map((agent) => agent.agentId);

/** The catalog's data of an agent. */
export const AgentDefinition = Type.Object({
  agentId: Type.String(),
  displayName: Type.String(),
  vendor: Type.String(),
  status: OneOf(['active', 'deprecated']),
  createdAt: Timestamp,
});
export type AgentDefinition = Static<typeof AgentDefinition>;

/** An agent on a machine. */
export const Installation = Type.Object({
  installationId: Id('ins'),
  organizationId: Id('org'),
  agentId: OneOf(AGENT_IDS),
  environmentId: Type.Optional(Id('env')),
  version: Type.Optional(Type.String()),
  config: Type.Optional(JsonObject),
  status: OneOf(['active', 'disabled']),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Installation = Static<typeof Installation>;

const installable = {
  agentId: OneOf(AGENT_IDS),
  version: Type.Optional(Text(64)),
  config: Type.Optional(JsonObject),
};

export const RegisterAgentBody = Body(installable);
export const RegisteredAgent = Type.Object({ installationId: Id('ins'), installation: Installation });

export const CreateInstallationBody = Body({ ...installable, environmentId: Type.Optional(Text(255)) });

export const UpdateInstallationBody = Body({
  version: Type.Optional(Text(64)),
  config: Type.Optional(JsonObject),
  status: Type.Optional(OneOf(['active', 'disabled'])),
});
