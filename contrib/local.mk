# SPDX-License-Identifier: MIT
# One script completes both programs; bash-completion looks for a file named like the command.
bashcompletiondir = $(with_bash_completion_dir)
bashcompletion_DATA = %D%/completion/udp_sink %D%/completion/udp_source
$(bashcompletion_DATA): contrib/completion/udpsink.bash
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp $(srcdir)/contrib/completion/udpsink.bash $@
EXTRA_DIST += %D%/completion/udpsink.bash
CLEANFILES += $(bashcompletion_DATA)
