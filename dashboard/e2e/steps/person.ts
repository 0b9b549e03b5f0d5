import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Service } from '../harness/service.ts';

export interface Credentials {
  email: string;
  password: string;
}

/** Each test file has its own people, because several files use one service. */
const file = randomUUID().slice(0, 8);
export const emailOf = (name: string): string => `${name}.${file}@example.com`;
export const ADA: Credentials = { email: emailOf('ada'), password: 'three quiet harbours' };
export const BEN: Credentials = { email: `ben.${file}@example.org`, password: 'seven loud mountains' };

/** Creates an account with the link that the service prints at its first start. */
export async function createFirstAccount(page: Page, service: Service, person: Credentials): Promise<void> {
  await page.goto(service.welcomeLink);
  await fill(page, person);
  await page.getByRole('button', { name: 'Create account' }).click();
}

/** Signs in on the page to which the dashboard redirects. */
export async function signUp(page: Page, person: Credentials): Promise<void> {
  await page.getByRole('link', { name: 'Create one' }).click();
  await fill(page, person);
  await page.getByRole('button', { name: 'Create account' }).click();
}

export async function signIn(page: Page, person: Credentials): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
  await fill(page, person);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /sign out/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  expect(await page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('oidc.user')))).toEqual([]);
}

async function fill(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
}
