# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The module for one kernel, and the tools. In a configuration of NixOS:
#
#   boot.extraModulePackages = [
#     (config.boot.kernelPackages.callPackage ./softrdma/packaging/nix { }).module ];
{ lib, stdenv, kernel, libmnl }:

let
  source = ../..;
  define = name: builtins.head (builtins.match
    ".*SRDMA_VERSION_${name}[ \t]+([0-9]+).*"
    (builtins.readFile (source + "/drivers/softrdma/base/version.h")));
  common = {
    version = lib.concatMapStringsSep "." define [ "MAJOR" "MINOR" "PATCH" ];
    src = lib.cleanSource source;
    meta = {
      description = "RDMA device in software, RoCEv2";
      license = lib.licenses.gpl2Only;
      platforms = lib.platforms.linux;
    };
  };
in
{
  module = stdenv.mkDerivation (common // {
    pname = "softrdma-module";
    nativeBuildInputs = kernel.moduleBuildDependencies;
    hardeningDisable = [ "pic" "format" ];
    buildPhase = ''
      make -C ${kernel.dev}/lib/modules/${kernel.modDirVersion}/build M=$PWD modules
    '';
    installPhase = ''
      install -D -m 644 softrdma.ko \
        $out/lib/modules/${kernel.modDirVersion}/updates/softrdma.ko
    '';
  });

  tools = stdenv.mkDerivation (common // {
    pname = "softrdma-tools";
    buildInputs = [ libmnl ];
    postPatch = "patchShebangs scripts/version";
    buildPhase = "make -C tools/softrdma OUTPUT=.";
    installPhase = "make -C tools/softrdma OUTPUT=. DESTDIR= PREFIX=$out install";
  });
}
