#!/bin/sh
echo "e $1"
