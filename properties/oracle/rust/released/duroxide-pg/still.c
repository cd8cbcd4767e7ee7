// A clock that stands still, put under PostgreSQL by LD_PRELOAD: what its functions reckon from their own clock is then the
// caller's time, which the check sets, to the millisecond. The time is long before the caller's.
#include <sys/time.h>
#include <time.h>

static const time_t still = 1000000000; // 2001

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
	(void)zone;
	t->tv_sec = still;
	t->tv_usec = 0;
	return 0;
}

time_t time(time_t *t) {
	if (t)
		*t = still;
	return still;
}
