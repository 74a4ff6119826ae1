/* SPDX-License-Identifier: MIT */
/* The program: all of it is done before main. */
int main(void)
{
	return 0;
}
