// httputil.ReverseProxy with ModifyResponse: the answer is read whole, parsed, and sent or translated.
package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
)

type row struct {
	MaskSample     bool            `json:"mask_sample"`
	InstanceConfig *instanceConfig `json:"instance_config"`
	FailureClass   *string         `json:"_ng_failure_class"`
	NoPersist      bool            `json:"_ng_no_persist"`
	FailureKind    *string         `json:"failure_kind"`
	FailureReason  *string         `json:"failure_reason"`
}

type instanceConfig struct {
	MaskSample bool `json:"mask_sample"`
}

func translate(answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return nil
	}
	var buffer bytes.Buffer
	if answer.ContentLength > 0 {
		buffer.Grow(int(answer.ContentLength) + bytes.MinRead)
	}
	if _, err := buffer.ReadFrom(answer.Body); err != nil {
		return err
	}
	answer.Body.Close()
	body := buffer.Bytes()
	var found row
	if json.Unmarshal(body, &found) == nil &&
		(found.MaskSample || found.InstanceConfig != nil && found.InstanceConfig.MaskSample || found.FailureClass != nil || found.NoPersist) {
		body, _ = json.Marshal(map[string]any{"status": 503, "detail": found.FailureReason, "failure_kind": found.FailureKind})
		answer.StatusCode = http.StatusServiceUnavailable
		answer.Status = "503 Masked"
		answer.Header.Set("Content-Type", "application/problem+json")
		answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
		answer.ContentLength = int64(len(body))
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

func main() {
	target, err := url.Parse("http://127.0.0.1:" + os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(request *httputil.ProxyRequest) { request.SetURL(target) },
		Transport:      &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true},
		ModifyResponse: translate,
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], proxy))
}
