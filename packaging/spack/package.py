# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe for the Leiden Zipper, see ../README.md."""

from spack.package import *


class LeidenZipper(AutotoolsPackage):
    """One unmodified MPI program on two or more clusters whose fast networks are not connected. A forwarder on a host
    with a port on both networks carries what crosses."""

    # The tarball of "make dist" has no public place yet: a mirror must have it.
    manual_download = True

    license("BSD-3-Clause")

    # The tarball has this file in it, so its checksum cannot stand here, and "spack install" needs --no-checksum.
    version("1.0.0")

    variant("munge", default=False, description="MUNGE proves who a user is, beside keys")
    variant("scotch", default=True, description="zipmap asks Scotch, too")
    variant("microhttpd", default=True, description="zipstat serve: a live page, and metrics for Prometheus")
    variant("yaml", default=True, description="zipmap reads Slurm's topology.yaml")
    variant("otf2", default=False, description="zipmap converts OTF2 traces")
    variant("verbs", default=True, description="InfiniBand and RoCE")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("uthash", type="build")

    # Every cluster runs its ranks with its own MPICH. It is asked for by name: other MPIs cannot be merged.
    depends_on("mpich@4:", type=("build", "link", "run"))
    depends_on("libsodium")
    depends_on("hwloc@2:")
    depends_on("metis@5:")
    depends_on("scotch~mpi", when="+scotch")
    depends_on("libmicrohttpd@0.9.71:", when="+microhttpd")
    depends_on("munge", when="+munge")
    depends_on("otf2@3:", when="+otf2")
    depends_on("libyaml", when="+yaml")
    depends_on("rdma-core@14:", when="+verbs")

    def url_for_version(self, version):
        return f"file:///leiden-zipper-{version}.tar.gz"

    def configure_args(self):
        mpich = self.spec["mpich"].prefix.bin
        args = [f"MPICC={mpich.mpicc}", f"MPIEXEC={mpich.mpiexec}"]
        for variant in ("munge", "scotch", "microhttpd", "verbs", "yaml", "otf2"):
            args += self.with_or_without(variant)
        return args
